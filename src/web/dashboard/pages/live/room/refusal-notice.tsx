import type { IngestLogEntry, LiveStream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import { formatRelative } from '../../../format/time.ts';
import { can } from '../../../state/session.ts';
import { rich, t } from '../../../texts/overview.ts';
import { Button } from '../../../ui/button.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { Notice } from '../../../ui/notice.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { showToast } from '../../../ui/toast.tsx';
import { encoderOf } from './encoder-name.ts';

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
  const encoder = encoderOf(last);
  const time = <RelativeTime time={happenedAt} />;
  return (
    <Notice
      tone="warning"
      title={
        address === undefined ? t('refusal.title', { encoder }) : t('refusal.titleFrom', { encoder, address })
      }
    >
      <span>
        {message}{' '}
        <span class="quiet">
          (
          {times === 1
            ? time
            : rich('refusal.times', { count: times, time: formatRelative(happenedAt) }, { t: () => time })}
          )
        </span>
      </span>
    </Notice>
  );
}

/** Explains why the encoder is rejected after “End broadcast”: most encoders reconnect automatically. */
function EndedByUs({
  stream: { liveStreamId },
  encoder: { name, address },
  onChange,
}: {
  stream: LiveStream;
  encoder: NonNullable<LiveStream['refusedEncoder']>;
  onChange: (stream: LiveStream) => void;
}) {
  const allowing = useSubmit(async () => {
    onChange(await call('PUT /live-streams/{liveStreamId}/allow-again', { params: { liveStreamId } }));
    showToast(t('refusal.allowed'));
  });
  return (
    <Notice
      tone="warning"
      action={
        can('live') && (
          <Button small busy={allowing.busy} onClick={allowing.submit}>
            {t('refusal.allowAgain')}
          </Button>
        )
      }
    >
      {name === '' ? t('refusal.endedByYouUnnamed', { address }) : t('refusal.endedByYou', { name, address })}
    </Notice>
  );
}
