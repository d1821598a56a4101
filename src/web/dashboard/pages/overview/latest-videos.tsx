import { formatTime } from '../../../shared/time-text.ts';
import { formatNumber } from '../../format/size.ts';
import { isSettled } from '../../format/video-state.ts';
import { titleOf } from '../../format/video-title.ts';
import { can } from '../../state/session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { EmptyState } from '../../ui/states.tsx';
import { VideoBadge } from '../../ui/video/video-badge.tsx';
import { VideoThumbnail } from '../../ui/video/video-thumbnail.tsx';
import type { ListedVideo } from './use-latest-videos.ts';

export function LatestVideos({ videos }: { videos: readonly ListedVideo[] }) {
  return (
    <Card
      title="Latest"
      flush
      actions={
        <Button small href="/dashboard/videos">
          All videos
        </Button>
      }
    >
      {videos.length === 0 ? (
        <EmptyState
          icon="video"
          title="No videos yet"
          action={
            can('upload') && (
              <Button href="/dashboard/videos" icon="upload">
                Upload a video
              </Button>
            )
          }
        >
          Uploads and recordings appear here.
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

function LatestVideo({ video, state, durationSeconds, isAudioOnly, plays }: ListedVideo) {
  return (
    <li class="latest-row">
      <span class="latest-picture" aria-hidden="true">
        <VideoThumbnail video={video} state={state} isAudioOnly={isAudioOnly} isSmall />
        {durationSeconds !== undefined && <span class="latest-length">{formatTime(durationSeconds)}</span>}
      </span>
      <div>
        <a class="latest-title" href={`/dashboard/videos/${video.videoId}`}>
          {titleOf(video)}
        </a>
        <p class="hint">
          {video.source.type === 'liveStream' ? 'Recorded ' : 'Uploaded '}
          <RelativeTime time={video.createdAt} />
          {isAudioOnly && ' · Audio only'}
          {state?.failure !== undefined && `. ${state.failure}`}
        </p>
      </div>
      <div class="latest-state">
        {plays !== undefined && (plays > 0 || state?.kind === 'ready') && (
          <span class="number">
            <strong>{formatNumber(plays)}</strong> {plays === 1 ? 'play' : 'plays'}
          </span>
        )}
        {state !== undefined && state.kind !== 'ready' && <VideoBadge state={state} />}
        {state !== undefined && !isSettled(state) && (
          <Progress percent={state.percent} label={`Progress of ${titleOf(video)}`} />
        )}
      </div>
    </li>
  );
}
