import { signal } from '@preact/signals';
import { session } from '../state/session.ts';
import { readStored, store } from '../state/stored.ts';
import { parseRemembered, type RememberedUpload, rememberedAtMost } from './remembered.ts';
import type { Upload } from './upload.ts';

/** Every upload that is shown, in the order in which they came. */
export const uploads = signal<readonly Upload[]>([]);

/** Grows whenever this page made, completed, deleted or restored a video: lists that show videos look again. */
export const videosRevision = signal(0);

const key = 'uploads';

/** An upload as it is now. */
export function findUpload(id: string): Upload | undefined {
  return uploads.peek().find(upload => upload.id === id);
}

/** Shows one more. */
export function addUpload(upload: Upload): void {
  uploads.value = [...uploads.peek(), upload];
}

/** Changes what is shown of one; nothing when it is gone. */
export function changeUpload(id: string, changes: Partial<Upload>): void {
  uploads.value = uploads.peek().map(upload => (upload.id === id ? { ...upload, ...changes } : upload));
}

/** Shows one no more. */
export function removeUpload(id: string): void {
  uploads.value = uploads.peek().filter(upload => upload.id !== id);
}

/** Says that there are other videos than before. */
export function videosChanged(): void {
  videosRevision.value += 1;
}

/** Uploads of whoever is signed in that this browser remembers. */
export function rememberedUploads(): RememberedUpload[] {
  const accountId = session.peek()?.account.accountId;
  return allRemembered().filter(entry => entry.accountId === accountId);
}

/** Remembers an upload until it is forgotten. */
export function remember(upload: RememberedUpload): void {
  const others = allRemembered().filter(({ videoId }) => videoId !== upload.videoId);
  store(key, JSON.stringify([...others, upload].slice(-rememberedAtMost)));
}

/** An upload is complete, or is not wanted any more. */
export function forget(videoId: string): void {
  const left = allRemembered().filter(entry => entry.videoId !== videoId);
  store(key, left.length === 0 ? undefined : JSON.stringify(left));
}

function allRemembered(): RememberedUpload[] {
  return parseRemembered(readStored(key));
}
