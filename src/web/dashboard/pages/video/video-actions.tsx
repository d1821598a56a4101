import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { localUrl } from '../../format/local-url.ts';
import type { VideoState } from '../../format/video-state.ts';
import { Button } from '../../ui/button.tsx';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import { showError } from '../../ui/toast.tsx';
import { useRestoreDays } from '../../ui/video/use-restore-days.ts';
import { DeleteDialog } from '../videos/delete-dialog.tsx';
import { discardVideos } from '../videos/discard-videos.ts';
import { saveFile } from './tracks/tracks.ts';

export function VideoActions({ video, state }: { video: Video; state: VideoState | undefined }) {
  const { route } = useLocation();
  const [isDeleting, setDeleting] = useState(false);
  const { value: restoreDays } = useRestoreDays();
  const { videoId } = video;
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
      {restoreDays !== undefined && <Menu label="More actions" items={items} />}
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
