import { signal } from '@preact/signals';
import { readStored, writeStored } from '../state/local-storage.ts';
import { session } from '../state/session.ts';
import { maxResumableUploads, parseResumableUploads, type ResumableUpload } from './resumable-upload.ts';
import type { Upload } from './upload.ts';

export const uploads = signal<readonly Upload[]>([]);

/** Grows with every change of the videos, so that lists reload. */
export const videosRevision = signal(0);

const storageKey = 'uploads';

export function findUpload(id: string): Upload | undefined {
  return uploads.peek().find(upload => upload.id === id);
}

export function addUploads(added: readonly Upload[]): void {
  uploads.value = [...uploads.peek(), ...added];
}

export function changeUpload(id: string, changes: Partial<Upload>): void {
  uploads.value = uploads.peek().map(upload => (upload.id === id ? { ...upload, ...changes } : upload));
}

export function removeUpload(id: string): void {
  removeUploads(upload => upload.id === id);
}

export function removeUploads(isRemoved: (upload: Upload) => boolean): void {
  uploads.value = uploads.peek().filter(upload => !isRemoved(upload));
}

export function videosChanged(): void {
  videosRevision.value += 1;
}

export function resumableUploads(): ResumableUpload[] {
  const accountId = session.peek()?.account.accountId;
  return storedUploads().filter(entry => entry.accountId === accountId);
}

export function rememberUpload(upload: ResumableUpload): void {
  const others = storedUploads().filter(({ videoId }) => videoId !== upload.videoId);
  writeStored(storageKey, JSON.stringify([...others, upload].slice(-maxResumableUploads)));
}

export function forgetUpload(videoId: string): void {
  const left = storedUploads().filter(entry => entry.videoId !== videoId);
  writeStored(storageKey, left.length === 0 ? undefined : JSON.stringify(left));
}

function storedUploads(): ResumableUpload[] {
  return parseResumableUploads(readStored(storageKey));
}
