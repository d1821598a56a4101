import { localUrl } from '../../format/local-url.ts';
import { formatClock, formatDateTime, formatRelative } from '../../format/time.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { Empty } from '../../ui/states.tsx';
import type { VideoStage } from '../video/video-state.ts';
import type { ListedVideo } from './use-latest-videos.ts';

const stageWords: Readonly<Record<VideoStage, readonly [words: string, tone: Tone]>> = {
  empty: ['Waits for its file', 'neutral'],
  arriving: ['Arriving', 'info'],
  processing: ['Being looked at', 'info'],
  encoding: ['Encoding', 'info'],
  ready: ['Ready', 'good'],
  failed: ['Failed', 'bad'],
};

/** The newest videos, and how far each has come. */
export function LatestVideos({ videos }: { videos: readonly ListedVideo[] }) {
  return (
    <Card
      title="Latest videos"
      flush
      actions={
        <Button small href="/dashboard/videos">
          All videos
        </Button>
      }
    >
      {videos.length === 0 ? (
        <Empty
          icon="video"
          title="No videos yet"
          action={
            <Button href="/dashboard/videos" icon="upload">
              Upload one
            </Button>
          }
        >
          Uploads and recordings of live streams show here.
        </Empty>
      ) : (
        <ul class="latest">
          {videos.map(one => (
            <LatestVideo key={one.video.videoId} {...one} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function LatestVideo({ video, status, progress }: ListedVideo) {
  const { stage, percent, failure, isPlayable } = progress;
  const [words, tone] = stageWords[stage];
  const isMoving = stage === 'arriving' || stage === 'processing' || stage === 'encoding';
  const { duration } = status.encoding.metadata;
  return (
    <li class="latest-row">
      <span class="latest-picture" aria-hidden="true">
        {video.assets !== null && (
          <img
            // The picture changes when the video gets one.
            src={`${localUrl(video.assets.thumbnail)}#${isPlayable}`}
            alt=""
            width={112}
            height={63}
            loading="lazy"
          />
        )}
        {duration !== null && <span class="latest-length">{formatClock(duration)}</span>}
      </span>
      <div class="latest-text">
        <a class="latest-title" href={`/dashboard/videos/${video.videoId}`}>
          {video.title}
        </a>
        <p class="hint">
          {video.source.type === 'liveStream' ? 'Recorded ' : 'Uploaded '}
          <time dateTime={video.createdAt} title={formatDateTime(video.createdAt)}>
            {formatRelative(video.createdAt)}
          </time>
          {failure !== undefined && `. ${failure}`}
        </p>
      </div>
      <div class="latest-state">
        <Badge tone={tone}>
          {words}
          {isMoving && percent !== undefined && ` ${Math.floor(percent)} %`}
        </Badge>
        {isMoving && <Progress percent={percent} label={`${words}: ${video.title}`} />}
      </div>
    </li>
  );
}
