import type { IngestLogEntry, LiveStream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { can } from '../../../state/session.ts';
import { Button } from '../../../ui/button.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { Notice } from '../../../ui/notice.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { showToast } from '../../../ui/toast.tsx';
import { encoderOf } from './ingest-timeline.ts';

const shownMs = 10 * 60_000;

/** Tells why the last encoder was refused, unless one has connected since. */
export function RefusalNotice({
  stream,
  entries,
  onChange,
}: {
  stream: LiveStream;
  entries: readonly IngestLogEntry[];
  onChange: (stream: LiveStream) => void;
}) {
  if (stream.refusedEncoder !== undefined) {
    return <EndedByUs stream={stream} encoder={stream.refusedEncoder} onChange={onChange} />;
  }
  const last = entries.findLast(({ type }) => type === 'refused' || type === 'connected');
  if (last?.type !== 'refused' || last.reason === 'broadcast-ended') return null;
  if (Date.now() - Date.parse(last.happenedAt) > shownMs) return null;
  const { address, message, times = 1, happenedAt } = last;
  const from = address === undefined ? '' : ` from ${address}`;
  return (
    <Notice tone="warning" title={`${encoderOf(last)}${from} was refused`}>
      <span>
        {message}{' '}
        <span class="quiet">
          ({times > 1 && `${times} times, last `}
          <RelativeTime time={happenedAt} />)
        </span>
      </span>
    </Notice>
  );
}

/** Explains why the encoder is rejected after “End broadcast”: most encoders reconnect automatically. */
function EndedByUs({
  stream: { liveStreamId },
  encoder,
  onChange,
}: {
  stream: LiveStream;
  encoder: NonNullable<LiveStream['refusedEncoder']>;
  onChange: (stream: LiveStream) => void;
}) {
  const allowing = useSubmit(async () => {
    onChange(await call('PUT /live-streams/{liveStreamId}/allow-again', { params: { liveStreamId } }));
    showToast('The encoder can go live again.');
  });
  return (
    <Notice
      tone="warning"
      action={
        can('live') && (
          <Button small busy={allowing.busy} onClick={allowing.submit}>
            Allow again
          </Button>
        )
      }
    >
      You ended the broadcast. The encoder {encoder.name === '' ? '' : `“${encoder.name}” `}at{' '}
      {encoder.address} is refused until it has stayed away for a minute.
    </Notice>
  );
}
