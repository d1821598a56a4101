import { useState } from 'preact/hooks';
import type { LiveStream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { t } from '../../../texts/overview.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyField } from '../../../ui/copy.tsx';
import { ProblemNotice } from '../../../ui/dialog/problem-notice.tsx';
import { SelectField, TextField } from '../../../ui/form/field.tsx';
import { Form } from '../../../ui/form/form.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { Card } from '../../../ui/page.tsx';
import { LoadedContent } from '../../../ui/states.tsx';
import { encoderOf } from '../../live/room/encoder-name.ts';
import { RefusalNotice } from '../../live/room/refusal-notice.tsx';
import { useIngestLog } from '../../live/room/use-ingest-log.ts';
import { CameraPreview } from './camera-preview.tsx';
import { PhoneCode } from './phone-code.tsx';

/** The feed tells at once that a stream is live. */
const logReloadMs = 5_000;

/** Three ways to go live, with a live stream that exists or is created here. */
export function GoLiveCard({ streams, reload }: { streams: readonly LiveStream[]; reload: () => void }) {
  const [chosenId, setChosenId] = useState<string>();
  const [created, setCreated] = useState<LiveStream>();
  const all =
    created === undefined || streams.some(({ liveStreamId }) => liveStreamId === created.liveStreamId)
      ? streams
      : [created, ...streams];
  const stream = all.find(({ liveStreamId }) => liveStreamId === chosenId) ?? all[0];
  return (
    <Card
      title={t('goLive.title')}
      actions={
        stream !== undefined && (
          <>
            {all.length > 1 && (
              <SelectField
                label={t('goLive.stream')}
                hideLabel
                value={stream.liveStreamId}
                options={all.map(({ liveStreamId, name }) => [liveStreamId, name] as const)}
                onValue={setChosenId}
              />
            )}
            <Button small href={`/dashboard/live/${stream.liveStreamId}`}>
              {t('goLive.settings')}
            </Button>
          </>
        )
      }
    >
      {stream === undefined ? (
        <CreateStream
          onCreated={one => {
            setCreated(one);
            reload();
          }}
        />
      ) : (
        <Ways key={stream.liveStreamId} stream={stream} onChange={reload} />
      )}
    </Card>
  );
}

function CreateStream({ onCreated }: { onCreated: (stream: LiveStream) => void }) {
  const [name, setName] = useState(() => t('goLive.defaultName'));
  const submission = useSubmit(async () => {
    onCreated(await call('POST /live-streams', { body: { name: name.trim() } }));
  });
  return (
    <Form class="make-stream" submission={submission} disabled={name.trim() === ''}>
      <TextField label={t('goLive.name')} value={name} onValue={setName} field="name" />
      <Button kind="primary" icon="live" type="submit" busy={submission.busy} disabled={name.trim() === ''}>
        {t('goLive.create')}
      </Button>
      <p class="hint">{t('goLive.createText')}</p>
      <ProblemNotice problem={submission.notice} />
    </Form>
  );
}

function Ways({ stream, onChange }: { stream: LiveStream; onChange: () => void }) {
  const { connecting, data } = useIngestLog(stream.liveStreamId, 'off', logReloadMs);
  return (
    <>
      <RefusalNotice stream={stream} entries={data} onChange={onChange} />
      <div class="ways">
        <section class="way" aria-label={t('goLive.browser')}>
          <h3>{t('goLive.browser')}</h3>
          <CameraPreview />
          <div class="actions">
            <Button
              kind="primary"
              icon="live"
              href={`/dashboard/live/${stream.liveStreamId}/studio?camera=on`}
            >
              {t('goLive.fromBrowser')}
            </Button>
          </div>
        </section>
        <section class="way phone" aria-label={t('goLive.phone')}>
          <h3>{t('goLive.phone')}</h3>
          <PhoneCode stream={stream} />
        </section>
        <section class="way" aria-label={t('goLive.encoder')}>
          <h3>{t('goLive.encoder')}</h3>
          <EncoderFields stream={stream} />
        </section>
      </div>
      <p class="encoder-wait" role="status">
        <span class="encoder-wait-mark" aria-hidden="true" />
        <span class="encoder-wait-text">
          {connecting === undefined
            ? t('goLive.waiting', { name: stream.name })
            : t('goLive.connected', {
                encoder: encoderOf(connecting),
                what: connecting.waitingFor === 'media' ? 'media' : 'keyframe',
              })}
        </span>
      </p>
    </>
  );
}

function EncoderFields({ stream: { streamKey = '' } }: { stream: LiveStream }) {
  const loaded = useLoad('', signal => call('GET /account', { signal }));
  return (
    <LoadedContent loaded={loaded} height={140}>
      {({ ingest }) => (
        <>
          <CopyField label={t('goLive.server')} value={ingest.rtmp} />
          <CopyField key={streamKey} label={t('goLive.streamKey')} value={streamKey} secret />
          <p class="hint">{t('goLive.obs')}</p>
        </>
      )}
    </LoadedContent>
  );
}
