import { useState } from 'preact/hooks';
import type { LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { formatClock } from '../../format/time.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog/confirm-dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { FormActions } from '../../ui/form/form-actions.tsx';
import { Switch } from '../../ui/form/switch.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { Card } from '../../ui/page.tsx';
import { showError, showToast } from '../../ui/toast.tsx';
import { SourceField } from './source-field.tsx';

type Source = NonNullable<LiveStream['source']>;

const refreshMs = 3_000;
const states: Readonly<Record<Source['state'], readonly [tone: Tone, label: string]>> = {
  off: ['neutral', 'Off'],
  connecting: ['info', 'Connecting'],
  live: ['good', 'Live'],
  retrying: ['warning', 'Retrying'],
};
const kinds = [
  ['IP camera', 'rtsp://user:password@camera/stream1'],
  ['HLS', 'https://host/live.m3u8'],
  ['MPEG-TS over HTTP', 'http://host/live.ts'],
  ['RTMP', 'rtmp://host/app/key'],
  ['SRT', 'srt://host:9000?streamid=key'],
] as const;

export function SourcePanel({
  stream,
  onChange,
  onOutdated,
}: {
  stream: LiveStream;
  onChange: (stream: LiveStream) => void;
  onOutdated: () => void;
}) {
  const { liveStreamId, source } = stream;
  const [url, setUrl] = useState(source?.url ?? '');
  const [isSwitching, setSwitching] = useState(false);
  const [isAsking, setAsking] = useState(false);
  useInterval(source?.enabled === true ? refreshMs : undefined, onOutdated);
  const save = async (changed: { url: string; enabled: boolean } | null) => {
    const params = { liveStreamId };
    onChange(await call('PATCH /live-streams/{liveStreamId}', { params, body: { source: changed } }));
  };
  const submission = useSubmit(async () => {
    await save({ url: url.trim(), enabled: source?.enabled ?? true });
    showToast('Saved.');
  });
  const isReady = url.trim() !== '' && url.trim() !== source?.url;
  const toggle = async (current: Source) => {
    setSwitching(true);
    try {
      await save({ url: current.url, enabled: !current.enabled });
    } catch (error) {
      showError(error);
    } finally {
      setSwitching(false);
    }
  };
  return (
    <div class="columns">
      <Card
        title="Source"
        actions={
          source !== undefined && (
            <Switch
              label="Pull the source"
              checked={source.enabled}
              busy={isSwitching}
              onClick={() => void toggle(source)}
            />
          )
        }
      >
        <p class="quiet">
          The server can pull a camera or another server’s stream, so that you need no encoder. It tries again
          when the source fails.
        </p>
        {source !== undefined && <SourceState source={source} />}
        <Form submission={submission} disabled={!isReady}>
          <SourceField
            label="Address"
            value={url}
            onValue={setUrl}
            hint="A user name and password belong in the address. Special characters in them are percent-encoded."
            required
          />
          <FormActions action={source === undefined ? 'Pull this source' : 'Save'} disabled={!isReady}>
            {source !== undefined && (
              <Button kind="quiet" onClick={() => setAsking(true)}>
                Remove source
              </Button>
            )}
          </FormActions>
        </Form>
      </Card>
      <Card title="Supported sources">
        <dl class="encoder-settings">
          {kinds.map(([kind, example]) => (
            <div key={kind}>
              <dt>{kind}</dt>
              <dd>
                <code>{example}</code>
              </dd>
            </div>
          ))}
        </dl>
        <p class="hint">
          Video must be H.264 or HEVC, over RTMP also AV1. Audio may be missing. For a camera in a private
          network, the operator of the server sets MILLRACE_ALLOW_PRIVATE_TARGETS.
        </p>
      </Card>
      {isAsking && (
        <ConfirmDialog
          title="Remove the source?"
          action="Remove source"
          work={async () => {
            await save(null);
            setUrl('');
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            The server forgets the address and stops pulling. To keep the address, turn the source off
            instead.
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}

function SourceState({ source: { state, reason, nextAttemptAt } }: { source: Source }) {
  const [tone, label] = states[state];
  return (
    <p class="two-lines" role="status" aria-label="State of the source">
      <span>
        <Badge tone={tone}>{label}</Badge>
      </span>
      {reason !== undefined && <span class="hint">{reason}</span>}
      {state === 'retrying' && nextAttemptAt !== undefined && (
        <span class="hint">Next attempt at {formatClock(nextAttemptAt)}.</span>
      )}
    </p>
  );
}
