import { signal } from '@preact/signals';
import { readStored, writeStored } from '../state/local-storage.ts';
import { session } from '../state/session.ts';
import { maxResumableUploads, parseResumableUploads, type ResumableUpload } from './resumable-upload.ts';
import type { Upload } from './upload.ts';

/** Every upload that is shown, in the order in which they came. */
export const uploads = signal<readonly Upload[]>([]);

/** Grows whenever this page made, completed, deleted or restored a video: lists that show videos look again. */
export const videosRevision = signal(0);

const storageKey = 'uploads';

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
export function resumableUploads(): ResumableUpload[] {
  const accountId = session.peek()?.account.accountId;
  return storedUploads().filter(entry => entry.accountId === accountId);
}

/** Remembers an upload until it is forgotten. */
export function rememberUpload(upload: ResumableUpload): void {
  const others = storedUploads().filter(({ videoId }) => videoId !== upload.videoId);
  writeStored(storageKey, JSON.stringify([...others, upload].slice(-maxResumableUploads)));
}

/** An upload is complete, or is not wanted any more. */
export function forgetUpload(videoId: string): void {
  const left = storedUploads().filter(entry => entry.videoId !== videoId);
  writeStored(storageKey, left.length === 0 ? undefined : JSON.stringify(left));
}

function storedUploads(): ResumableUpload[] {
  return parseResumableUploads(readStored(storageKey));
}
