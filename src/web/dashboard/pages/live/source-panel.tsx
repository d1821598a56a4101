import { useState } from 'preact/hooks';
import type { LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { withServerSetting } from '../../format/server-setting.ts';
import { formatClock } from '../../format/time.ts';
import { t } from '../../texts/live.ts';
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
const tones: Readonly<Record<Source['state'], Tone>> = {
  off: 'neutral',
  connecting: 'info',
  live: 'good',
  retrying: 'warning',
};
function kinds() {
  return [
    [t('source.camera'), 'rtsp://user:password@camera/stream1'],
    ['HLS', 'https://host/live.m3u8'],
    [t('source.mpegTs'), 'http://host/live.ts'],
    ['RTMP', 'rtmp://host/app/key'],
    ['SRT', 'srt://host:9000?streamid=key'],
  ] as const;
}

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
    showToast(t('settings.saved'));
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
        title={t('source.title')}
        actions={
          source !== undefined && (
            <Switch
              label={t('source.pull')}
              checked={source.enabled}
              busy={isSwitching}
              onClick={() => void toggle(source)}
            />
          )
        }
      >
        <p class="quiet">{t('source.text')}</p>
        {source !== undefined && <SourceState source={source} />}
        <Form submission={submission} disabled={!isReady}>
          <SourceField
            label={t('source.address')}
            value={url}
            onValue={setUrl}
            hint={t('source.addressHint')}
            required
          />
          <FormActions
            action={source === undefined ? t('source.pullThis') : t('source.save')}
            disabled={!isReady}
          >
            {source !== undefined && (
              <Button kind="quiet" onClick={() => setAsking(true)}>
                {t('source.remove')}
              </Button>
            )}
          </FormActions>
        </Form>
      </Card>
      <Card title={t('source.supported')}>
        <dl class="encoder-settings">
          {kinds().map(([kind, example]) => (
            <div key={kind}>
              <dt>{kind}</dt>
              <dd>
                <code>{example}</code>
              </dd>
            </div>
          ))}
        </dl>
        <p class="hint">{withServerSetting(t('source.supportedHint'), 'MILLRACE_ALLOW_PRIVATE_TARGETS')}</p>
      </Card>
      {isAsking && (
        <ConfirmDialog
          title={t('source.removeTitle')}
          action={t('source.remove')}
          work={async () => {
            await save(null);
            setUrl('');
          }}
          onClose={() => setAsking(false)}
        >
          <p>{t('source.removeText')}</p>
        </ConfirmDialog>
      )}
    </div>
  );
}

function SourceState({ source: { state, reason, nextAttemptAt } }: { source: Source }) {
  return (
    <p class="two-lines" role="status" aria-label={t('source.state')}>
      <span>
        <Badge tone={tones[state]}>{t(`source.states.${state}`)}</Badge>
      </span>
      {reason !== undefined && (
        <span class="hint">
          <bdi>{reason}</bdi>
        </span>
      )}
      {state === 'retrying' && nextAttemptAt !== undefined && (
        <span class="hint">{t('source.nextAttempt', { time: formatClock(nextAttemptAt) })}</span>
      )}
    </p>
  );
}
