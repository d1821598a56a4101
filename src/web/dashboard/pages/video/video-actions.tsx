import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { localUrl } from '../../format/local-url.ts';
import type { VideoState } from '../../format/video-state.ts';
import { titleOf } from '../../format/video-title.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm.tsx';
import { Menu, type MenuItem } from '../../ui/menu.tsx';
import { tell, tellProblem } from '../../ui/toast.tsx';
import { useRestoreDays } from '../../ui/use-restore-days.ts';
import { saveFile } from './tracks.ts';

/** What can be done with a video as a whole. */
export function VideoActions({ video, state }: { video: Video; state: VideoState | undefined }) {
  const { route } = useLocation();
  const [open, setOpen] = useState<'trash' | 'delete'>();
  const { value: restoreDays } = useRestoreDays();
  const { videoId } = video;
  const title = titleOf(video);
  const remove = async (isForGood: boolean) => {
    await call('DELETE /videos/{videoId}', {
      params: { videoId },
      query: isForGood ? { permanently: 'true' } : {},
    });
    tell(isForGood ? `“${title}” deleted for good.` : `“${title}” moved to the trash.`);
    route('/dashboard/videos');
  };
  const items: MenuItem[] = [];
  if (restoreDays !== undefined && restoreDays > 0) {
    items.push({ words: 'Move to the trash', icon: 'trash', onClick: () => setOpen('trash') });
  }
  items.push({ words: 'Delete for good', icon: 'trash', danger: true, onClick: () => setOpen('delete') });
  return (
    <>
      {state?.kind === 'ready' && video.mp4Support && (
        <Button icon="download" onClick={() => void saveMp4(videoId).catch(tellProblem)}>
          Download
        </Button>
      )}
      {restoreDays !== undefined && <Menu label="More actions" items={items} />}
      {open === 'trash' && (
        <ConfirmDialog
          title={`Move “${title}” to the trash?`}
          action="Move to the trash"
          work={() => remove(false)}
          onClose={() => setOpen(undefined)}
        >
          <p>Nobody can watch it any more. For {restoreDays} days it can be restored from the trash.</p>
        </ConfirmDialog>
      )}
      {open === 'delete' && (
        <ConfirmDialog
          title={`Delete “${title}” for good?`}
          action="Delete for good"
          name={title}
          work={() => remove(true)}
          onClose={() => setOpen(undefined)}
        >
          <p>
            The video, its captions, chapters and pictures are deleted. This cannot be undone, and links to it
            stop working.
          </p>
        </ConfirmDialog>
      )}
    </>
  );
}

/** Of a private video the address is good for once only: a new one is asked for. */
async function saveMp4(videoId: string): Promise<void> {
  const { assets } = await call('GET /videos/{videoId}', { params: { videoId } });
  if (assets?.mp4 !== undefined) saveFile(`${localUrl(assets.mp4)}?dl=1`, 'video.mp4');
}
