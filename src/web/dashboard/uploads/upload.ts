import type { Input } from '../api/client.ts';
import type { ProjectEnvironment } from '../state/session.ts';

/** `interrupted`: the file has to be chosen again; `processing`, `ready`, `unplayable`: all received. */
type UploadState =
  | 'waiting'
  | 'sending'
  | 'retrying'
  | 'paused'
  | 'interrupted'
  | 'failed'
  | 'processing'
  | 'ready'
  | 'unplayable';

/** Everything but title and source. */
export type NewVideoOptions = Omit<Input<'POST /videos'>['body'], 'title' | 'source'>;

export interface Upload extends ProjectEnvironment {
  readonly id: string;
  readonly title: string;
  readonly fileName: string;
  readonly fileBytes: number;
  readonly videoId?: string | undefined;
  readonly state: UploadState;
  readonly sentBytes: number;
  readonly bytesPerSecond?: number | undefined;
  readonly problem?: string | undefined;
  readonly processedPercent?: number | undefined;
}

export function isActive({ state }: Upload): boolean {
  return state === 'waiting' || state === 'sending' || state === 'retrying';
}

export function isFinished({ state }: Upload): boolean {
  return state === 'processing' || state === 'ready' || state === 'unplayable';
}

export function titleOf(fileName: string): string {
  return fileName.replace(/(?<=.)\.[A-Za-z0-9]{1,5}$/, '').trim() || fileName;
}

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

/** 0 to 100; undefined if there is nothing to send. */
export function uploadPercent(uploads: readonly Upload[]): number | undefined {
  const sending = uploads.filter(upload => !isFinished(upload));
  const all = sending.reduce((sum, { fileBytes }) => sum + fileBytes, 0);
  if (all === 0) return undefined;
  return Math.floor((100 * sending.reduce((sum, upload) => sum + upload.sentBytes, 0)) / all);
}
