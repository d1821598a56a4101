import { isAudioOnly, videoStateOf } from '../../format/video-state.ts';
import { titleOf } from '../../format/video-title.ts';
import type { PageProps } from '../../shell/page-props.ts';
import { Badge } from '../../ui/badge.tsx';
import { Page } from '../../ui/page.tsx';
import { LoadError, Skeleton } from '../../ui/states.tsx';
import { VideoBadge } from '../../ui/video/video-badge.tsx';
import { MissingVideo } from './missing-video.tsx';
import { useVideo, useVideoStatus } from './use-video.ts';
import { VideoActions } from './video-actions.tsx';
import { VideoCards } from './video-cards.tsx';

const back = { href: '/dashboard/videos', words: 'Videos' };

export function VideoPage({ params }: PageProps) {
  const { videoId = '' } = params;
  const loaded = useVideo(videoId);
  const { value: video, problem } = loaded;
  const status = useVideoStatus(videoId, video);
  if (problem?.status === 404) return <MissingVideo videoId={videoId} onRestored={loaded.reload} />;
  if (video === undefined) {
    return (
      <Page title="Video" back={back}>
        {problem === undefined ? <Loading /> : <LoadError problem={problem} retry={loaded.reload} />}
      </Page>
    );
  }
  const state = status.value && videoStateOf(video, status.value);
  return (
    <Page
      title={titleOf(video)}
      back={back}
      badge={
        <>
          {state !== undefined && <VideoBadge state={state} />}
          {status.value !== undefined && isAudioOnly(status.value) && <Badge>Audio only</Badge>}
          {!video.public && <Badge>Private</Badge>}
        </>
      }
      actions={<VideoActions video={video} state={state} />}
    >
      <VideoCards video={video} change={loaded.change} onVideo={loaded.set} status={status} />
    </Page>
  );
}

function Loading() {
  return (
    <div role="status" class="columns main-side">
      <span class="for-readers">Loading</span>
      <div class="stack">
        <div class="video-stage skeleton block" />
        <Skeleton height={160} />
      </div>
      <div class="stack">
        <Skeleton height={220} />
        <Skeleton height={220} />
      </div>
    </div>
  );
}
