import { formatTime } from '../../../shared/time-text.ts';
import type { Video } from '../../api/api-types.ts';
import { formatRelative } from '../../format/time.ts';
import { isSettled } from '../../format/video-state.ts';
import { titleOf } from '../../format/video-title.ts';
import { can, environment } from '../../state/session.ts';
import { rich, t } from '../../texts/overview.ts';
import { bold } from '../../ui/bold.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { VideoBadge } from '../../ui/video/video-badge.tsx';
import { VideoThumbnail } from '../../ui/video/video-thumbnail.tsx';
import { VideoTitle } from '../../ui/video/video-title.tsx';
import type { ListedVideo } from './use-latest-videos.ts';

export function LatestVideos({ videos }: { videos: readonly ListedVideo[] }) {
  return (
    <Card
      title={t('latest.title')}
      flush
      actions={
        <>
          {environment.value === 'production' && (
            <Button small href="/dashboard/settings#channel">
              {t('latest.publicPage')}
            </Button>
          )}
          <Button small href="/dashboard/videos">
            {t('latest.all')}
          </Button>
        </>
      }
    >
      {videos.length === 0 ? (
        <EmptyState
          icon="video"
          title={t('latest.none')}
          action={
            can('upload') && (
              <Button href="/dashboard/videos" icon="upload">
                {t('steps.video')}
              </Button>
            )
          }
        >
          {t('latest.noneText')}
        </EmptyState>
      ) : (
        <ul>
          {videos.map(one => (
            <LatestVideo key={one.video.videoId} {...one} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function originOf({ source: { type, clippedFrom } }: Video) {
  if (clippedFrom !== undefined) return 'latest.clipped';
  return type === 'liveStream' ? 'latest.recorded' : 'latest.uploaded';
}

function LatestVideo({ video, state, durationSeconds, isAudioOnly, plays }: ListedVideo) {
  return (
    <li class="latest-row">
      <span class="latest-picture" aria-hidden="true">
        <VideoThumbnail video={video} state={state} isAudioOnly={isAudioOnly} isSmall />
        {durationSeconds !== undefined && <span class="latest-length">{formatTime(durationSeconds)}</span>}
      </span>
      <div>
        <a class="latest-title" href={`/dashboard/videos/${video.videoId}`}>
          <VideoTitle video={video} />
        </a>
        <p class="hint">
          {rich(
            originOf(video),
            { time: formatRelative(video.createdAt) },
            { when: () => <RelativeTime time={video.createdAt} /> },
          )}
          {isAudioOnly && ` · ${t('latest.audioOnly')}`}
          {state?.failure !== undefined && (
            <>
              {'. '}
              <bdi>{state.failure}</bdi>
            </>
          )}
        </p>
      </div>
      <div class="latest-state">
        {plays !== undefined && (plays > 0 || state?.kind === 'ready') && (
          <span class="number">{rich('latest.plays', { count: plays }, bold)}</span>
        )}
        {state !== undefined && state.kind !== 'ready' && <VideoBadge state={state} />}
        {state !== undefined && !isSettled(state) && (
          <Progress percent={state.percent} label={t('latest.progress', { title: titleOf(video) })} />
        )}
      </div>
    </li>
  );
}
