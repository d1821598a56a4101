import { listText } from '../format/list-text.ts';
import { t } from '../texts/uploads.ts';
import { isFinished, type Upload, type UploadState } from './upload.ts';

/** In few words, such as `4 done, 2 failed`. */
export function summarizeUploads(uploads: readonly Upload[]): string {
  const count = (...states: UploadState[]) => uploads.filter(({ state }) => states.includes(state)).length;
  const done = count('ready');
  const failed = count('failed', 'unplayable');
  const active = count('waiting', 'sending', 'retrying');
  if (done === uploads.length) return t('uploads.countUploaded', { count: done });
  const parts = [
    ['done', done],
    // The header has room for what matters.
    ['processing', active > 0 ? 0 : count('processing')],
    ['paused', count('paused')],
    ['interrupted', count('interrupted')],
    ['failed', failed],
  ] as const;
  const rest = parts
    .filter(([, number]) => number > 0)
    .map(([kind, number]) => t(`uploads.count.${kind}`, { count: number }));
  return listText([...(active > 0 ? [t('uploads.countUploading', { count: active })] : []), ...rest]);
}

/** 0 to 100; undefined if there is nothing to send. */
export function uploadPercent(uploads: readonly Upload[]): number | undefined {
  const sending = uploads.filter(upload => !isFinished(upload) && !isRefused(upload));
  const all = sending.reduce((sum, { fileBytes }) => sum + fileBytes, 0);
  if (all === 0) return undefined;
  return Math.floor((100 * sending.reduce((sum, upload) => sum + upload.sentBytes, 0)) / all);
}

/** Nothing of it was sent, and nothing is left on the server. */
export function isRefused({ state, videoId }: Pick<Upload, 'state' | 'videoId'>): boolean {
  return state === 'failed' && videoId === undefined;
}
