import type { Environment } from '../state/session.ts';

/**
 * How it stands with an upload:
 *
 * - `waiting`: others are sent first
 * - `sending`, `retrying`: under way; the latter waits until it is tried again
 * - `paused`: until a person wants it to go on
 * - `interrupted`: the page was closed meanwhile; the file has to be chosen again
 * - `failed`: the server refused it; `problem` says why
 * - `processing`, `ready`, `unplayable`: all of the file is there
 */
export type UploadState =
  | 'waiting'
  | 'sending'
  | 'retrying'
  | 'paused'
  | 'interrupted'
  | 'failed'
  | 'processing'
  | 'ready'
  | 'unplayable';

/** A file on its way to becoming a video, as it is shown. */
export interface Upload {
  /** Of this page only. */
  readonly id: string;
  readonly title: string;
  readonly fileName: string;
  readonly fileBytes: number;
  readonly environment: Environment;
  /** Once the video is made. */
  readonly videoId?: string | undefined;
  readonly state: UploadState;
  readonly sentBytes: number;
  readonly bytesPerSecond?: number | undefined;
  /** What went wrong, or is wrong with the file that was chosen. */
  readonly problem?: string | undefined;
  /** How far the processing is. */
  readonly processedPercent?: number | undefined;
}

/** Whether something is done for it that ends when the page is closed. */
export function isActive({ state }: Upload): boolean {
  return state === 'waiting' || state === 'sending' || state === 'retrying';
}

/** Whether nothing is left to do for it here. */
export function isFinished({ state }: Upload): boolean {
  return state === 'processing' || state === 'ready' || state === 'unplayable';
}

/** A title made of a file's name: without its ending. */
export function titleOf(fileName: string): string {
  return fileName.replace(/(?<=.)\.[A-Za-z0-9]{1,5}$/, '').trim() || fileName;
}

/** What all uploads together are doing, in a few words. */
export function summarizeUploads(uploads: readonly Upload[]): string {
  const count = (...states: UploadState[]) => uploads.filter(({ state }) => states.includes(state)).length;
  const files = (number: number) => `${number} ${number === 1 ? 'file' : 'files'}`;
  const active = count('waiting', 'sending', 'retrying');
  if (active > 0) return `Uploading ${files(active)}`;
  const stopped = count('paused', 'interrupted', 'failed');
  if (stopped > 0) return `${files(stopped)} not uploaded yet`;
  const processing = count('processing');
  if (processing > 0) return `${files(processing)} being processed`;
  const unplayable = count('unplayable');
  const uploaded = uploads.length - unplayable;
  if (unplayable === 0) return `${files(uploaded)} uploaded`;
  return uploaded === 0 ? `${files(unplayable)} failed` : `${files(uploaded)} uploaded, ${unplayable} failed`;
}

/** How much of all that is to be sent has been sent. 0..100; undefined when nothing is */
export function uploadPercent(uploads: readonly Upload[]): number | undefined {
  const sending = uploads.filter(upload => !isFinished(upload));
  const all = sending.reduce((sum, { fileBytes }) => sum + fileBytes, 0);
  if (all === 0) return undefined;
  return Math.floor((100 * sending.reduce((sum, upload) => sum + upload.sentBytes, 0)) / all);
}
