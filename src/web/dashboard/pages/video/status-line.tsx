import { formatTime } from '../../../shared/time-text.ts';
import type { VideoStatus } from '../../api/api-types.ts';
import { formatList } from '../../format/list.ts';
import { formatBytes } from '../../format/size.ts';
import type { VideoState } from '../../format/video-state.ts';
import { withUnit } from '../../format/with-unit.ts';
import { t } from '../../texts/video.ts';
import { Button } from '../../ui/button.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Progress } from '../../ui/progress.tsx';
import { activityOf, failedRenditions } from './video-activity.ts';

/** One line below the player of a video that can be played: its file, or what is still encoded. */
export function StatusLine({
  state,
  status,
  onRetry,
}: {
  state: VideoState;
  status: VideoStatus;
  /** Undefined for roles that can only view. */
  onRetry: (() => void) | undefined;
}) {
  const failed = failedRenditions(status.encoding);
  const { title, text } = activityOf(state, status);
  return (
    <div class="status-line">
      {state.kind === 'playable' ? (
        <>
          <p>
            <strong>{t('status.activity', { title })}</strong> {text}
            {state.delay !== undefined && ` ${t('player.waiting', { reason: state.delay })}`}
          </p>
          <Progress percent={state.percent} label={title} />
        </>
      ) : (
        <p class="number">{fileTexts(status).join(' · ')}</p>
      )}
      {failed.length > 0 && (
        <Notice
          tone="warning"
          action={
            onRetry !== undefined && (
              <Button small icon="refresh" onClick={onRetry}>
                {t('player.tryAgain')}
              </Button>
            )
          }
        >
          {t('status.failed', { names: formatList(failed) })}
        </Notice>
      )}
    </div>
  );
}

function fileTexts({ ingest, encoding }: VideoStatus): string[] {
  const { duration, width, height } = encoding.metadata;
  const renditions = encoding.qualities.filter(
    ({ type, status }) => type === 'hls' && status === 'encoded',
  ).length;
  const texts = [
    duration === null ? '' : formatTime(duration),
    width === null || height === null ? '' : withUnit(width, `× ${height}`),
    renditions === 0 ? '' : t('status.renditions', { count: renditions }),
    ingest?.filesize == null ? '' : formatBytes(ingest.filesize),
  ];
  return texts.filter(text => text !== '');
}
