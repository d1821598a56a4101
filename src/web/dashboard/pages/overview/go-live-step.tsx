import { useState } from 'preact/hooks';
import type { LiveStream } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyField } from '../../ui/copy.tsx';
import { ProblemNotice } from '../../ui/dialog/problem-notice.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { Form } from '../../ui/form/form.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { LoadedContent } from '../../ui/states.tsx';

export function GoLiveStep({ streams, reload }: { streams: readonly LiveStream[]; reload: () => void }) {
  const [made, setMade] = useState<LiveStream>();
  const stream = made ?? streams[0];
  if (stream !== undefined) return <EncoderSetup stream={stream} />;
  return (
    <CreateStream
      onMade={one => {
        setMade(one);
        reload();
      }}
    />
  );
}

function CreateStream({ onMade }: { onMade: (stream: LiveStream) => void }) {
  const [name, setName] = useState('My live stream');
  const submission = useSubmit(async () => {
    onMade(await call('POST /live-streams', { body: { name: name.trim() } }));
  });
  return (
    <Form class="make-stream" submission={submission} disabled={name.trim() === ''}>
      <TextField label="Name of the live stream" value={name} onValue={setName} field="name" />
      <Button kind="primary" icon="live" type="submit" busy={submission.busy} disabled={name.trim() === ''}>
        Create live stream
      </Button>
      <ProblemNotice problem={submission.notice} />
    </Form>
  );
}

function EncoderSetup({ stream }: { stream: LiveStream }) {
  const loaded = useLoad('', signal => call('GET /account', { signal }));
  return (
    <>
      <div class="actions">
        <Button kind="primary" icon="video" href={`/dashboard/live/${stream.liveStreamId}/studio`}>
          Go live from this browser
        </Button>
      </div>
      <p class="hint">
        Or use an encoder. In OBS, open Settings, then Stream, choose the service “Custom…”, paste the server
        and the stream key, and press “Start Streaming”. Other encoders ask for the same two values.
      </p>
      <LoadedContent loaded={loaded} height={70}>
        {({ ingest }) => (
          <div class="form-grid two">
            <CopyField label="Server" value={ingest.rtmp} />
            <CopyField label="Stream key" value={stream.streamKey ?? ''} secret />
          </div>
        )}
      </LoadedContent>
      <div class="actions">
        <span class="encoder-wait" role="status">
          <span class="encoder-wait-mark" aria-hidden="true" />
          Waiting for video from “{stream.name}”
        </span>
        <Button small href={`/dashboard/live/${stream.liveStreamId}`}>
          All settings
        </Button>
      </div>
    </>
  );
}
