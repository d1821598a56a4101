import { useState } from 'preact/hooks';
import { saveFile } from '../../../shared/save-file.ts';
import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { localUrl } from '../../format/local-url.ts';
import type { VideoState } from '../../format/video-state.ts';
import { isAudioOnly, isWatchable, videoStateOf } from '../../format/video-state.ts';
import { titleOf } from '../../format/video-title.ts';
import type { PageProps } from '../../shell/page-props.ts';
import { can } from '../../state/session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import { Page } from '../../ui/page.tsx';
import { LoadError, Skeleton } from '../../ui/states.tsx';
import { showError } from '../../ui/toast.tsx';
import { useRestoreDays } from '../../ui/video/use-restore-days.ts';
import { VideoBadge } from '../../ui/video/video-badge.tsx';
import { VideoClipDialog } from '../clips/video-clip-dialog.tsx';
import { DeleteDialog } from '../videos/delete-dialog.tsx';
import { discardVideos } from '../videos/discard-videos.ts';
import { MissingVideo } from './missing-video.tsx';
import { useVideo, useVideoStatus } from './use-video.ts';
import { VideoCards } from './video-cards.tsx';

const back = { href: '/dashboard/videos', label: 'Videos' };

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

function VideoActions({ video, state }: { video: Video; state: VideoState | undefined }) {
  const { route } = useLocation();
  const [isDeleting, setDeleting] = useState(false);
  const [isClipping, setClipping] = useState(false);
  const { value: restoreDays } = useRestoreDays();
  const { videoId } = video;
  const canEdit = can('upload');
  const canClip = canEdit && state !== undefined && isWatchable(state) && state.kind !== 'encoding';
  const showList = () => route('/dashboard/videos');
  const discard = async () => {
    if (await discardVideos([video])) showList();
  };
  const items: MenuItem[] = [];
  if (restoreDays !== undefined && restoreDays > 0) {
    items.push({ label: 'Move to trash', icon: 'trash', onClick: () => void discard() });
  }
  items.push({ label: 'Delete permanently', icon: 'trash', danger: true, onClick: () => setDeleting(true) });
  return (
    <>
      {state?.kind === 'ready' && video.assets?.mp4 !== undefined && (
        <Button icon="download" onClick={() => void saveMp4(videoId).catch(showError)}>
          Download
        </Button>
      )}
      {canClip && (
        <Button icon="clip" onClick={() => setClipping(true)}>
          Create clip
        </Button>
      )}
      {restoreDays !== undefined && canEdit && <Menu label="More actions" items={items} />}
      {isClipping && video.assets !== null && (
        <VideoClipDialog
          video={video}
          assets={video.assets}
          onCreated={clipId => route(`/dashboard/videos/${clipId}`)}
          onClose={() => setClipping(false)}
        />
      )}
      {isDeleting && (
        <DeleteDialog videos={[video]} onDeleted={showList} onClose={() => setDeleting(false)} />
      )}
    </>
  );
}

/** The links of a private video work once, so a new one is loaded. */
async function saveMp4(videoId: string): Promise<void> {
  const { assets } = await call('GET /videos/{videoId}', { params: { videoId } });
  if (assets?.mp4 !== undefined) saveFile(`${localUrl(assets.mp4)}?dl=1`, 'video.mp4');
}
