import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { problemOf } from '../../api/problem.ts';
import { titleOf } from '../../format/video-title.ts';
import { projectHeaders } from '../../state/session.ts';
import { showError, showToast } from '../../ui/toast.tsx';
import { videosChanged } from '../../uploads/upload-store.ts';

/** Skips videos that somebody else deleted. Returns true if none failed. */
export async function discardVideos(videos: readonly Video[]): Promise<boolean> {
  let isDone = true;
  const discarded: Video[] = [];
  // The environment may change before the undo.
  const headers = projectHeaders();
  try {
    for (const video of videos) {
      const { videoId } = video;
      if (await isFound(call('DELETE /videos/{videoId}', { params: { videoId }, headers })))
        discarded.push(video);
    }
  } catch (error) {
    isDone = false;
    showError(error);
  }
  videosChanged();
  if (discarded.length === 0) return isDone;
  showToast(`${describeVideos(discarded)} moved to trash.`, {
    label: 'Undo',
    run: () => void restoreVideos(discarded, headers),
  });
  return isDone;
}

export async function restoreVideos(
  videos: readonly Video[],
  headers: Record<string, string> = {},
): Promise<void> {
  const restored: Video[] = [];
  let lost = 0;
  try {
    for (const video of videos) {
      const { videoId } = video;
      const input = { params: { videoId }, body: { discarded: false }, headers };
      if (await isFound(call('PATCH /discarded/videos/{videoId}', input))) restored.push(video);
      else lost += 1;
    }
  } catch (error) {
    showError(error);
  }
  videosChanged();
  if (restored.length > 0) showToast(`${describeVideos(restored)} restored.`);
  if (lost > 0)
    showError(
      new Error(
        lost === 1 ? 'One video is no longer in the trash.' : `${lost} videos are no longer in the trash.`,
      ),
    );
}

export function describeVideos(videos: readonly Video[]): string {
  const [first] = videos;
  return videos.length === 1 && first !== undefined ? `“${titleOf(first)}”` : `${videos.length} videos`;
}

/** False for what somebody else deleted. */
export async function isFound(answer: Promise<unknown>): Promise<boolean> {
  try {
    await answer;
    return true;
  } catch (error) {
    if (problemOf(error).status === 404) return false;
    throw error;
  }
}
