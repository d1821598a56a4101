import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { projectHeaders } from '../../state/session.ts';
import { t } from '../../texts/videos.ts';
import { type BulkResult, runBulk } from '../../ui/bulk/run-bulk.ts';
import { showToast } from '../../ui/toast.tsx';
import { videosChanged } from '../../uploads/upload-store.ts';
import { type BulkAction, bulkText } from './bulk-text.ts';

export type BulkOptions = NonNullable<Parameters<typeof runBulk>[2]>;

/** Skips videos that somebody else deleted. */
export async function discardVideos(
  videos: readonly Video[],
  options?: BulkOptions,
): Promise<BulkResult<Video>> {
  // The environment may change before the undo.
  const headers = projectHeaders();
  const result = await runBulk(
    videos,
    ({ videoId }) => call('DELETE /videos/{videoId}', { params: { videoId }, headers }),
    options,
  );
  const undo = { label: t('bulk.undo'), run: () => void restoreVideos(result.done, headers) };
  showBulkResult(result, 'trashed', result.done.length === 0 ? undefined : undo);
  return result;
}

export function restoreVideos(
  videos: readonly Video[],
  headers: Record<string, string> = projectHeaders(),
  options?: BulkOptions,
): Promise<BulkResult<Video>> {
  const restore = ({ videoId }: Video) =>
    call('PATCH /discarded/videos/{videoId}', { params: { videoId }, body: { discarded: false }, headers });
  return runShown(videos, restore, 'restored', options);
}

export function deletePermanently(
  videos: readonly Video[],
  headers: Record<string, string>,
): Promise<BulkResult<Video>> {
  const remove = ({ videoId }: Video) =>
    call('DELETE /videos/{videoId}', { params: { videoId }, query: { permanently: 'true' }, headers });
  return runShown(videos, remove, 'deleted', undefined);
}

export function retryVideos(videos: readonly Video[], options?: BulkOptions): Promise<BulkResult<Video>> {
  const headers = projectHeaders();
  const retry = ({ videoId }: Video) =>
    call('POST /videos/{videoId}/retry', { params: { videoId }, headers });
  return runShown(videos, retry, 'retried', options);
}

async function runShown(
  videos: readonly Video[],
  work: (video: Video) => Promise<unknown>,
  action: BulkAction,
  options: BulkOptions | undefined,
): Promise<BulkResult<Video>> {
  const result = await runBulk(videos, work, options);
  showBulkResult(result, action);
  return result;
}

/** Tells how many were done and how many failed, and reloads lists. */
export function showBulkResult(
  result: BulkResult<Video>,
  action: BulkAction,
  undo?: Parameters<typeof showToast>[1],
): void {
  videosChanged();
  const isGood = result.failed.length + result.left.length === 0;
  showToast(bulkText(result, action), undo, isGood ? 'good' : 'bad');
}
