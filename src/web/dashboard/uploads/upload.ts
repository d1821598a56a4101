import type { Input } from '../api/client.ts';
import type { ProjectEnvironment } from '../state/session.ts';

/** `interrupted`: the file has to be chosen again; `processing`, `ready`, `unplayable`: all received. */
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

/** Everything but title and source. */
export type NewVideoOptions = Omit<Input<'POST /videos'>['body'], 'title' | 'source'>;

export interface Upload extends ProjectEnvironment {
  readonly id: string;
  readonly title: string;
  readonly fileName: string;
  readonly fileBytes: number;
  readonly videoId?: string | undefined;
  /** The video was there before. */
  readonly isOfExistingVideo?: boolean | undefined;
  readonly state: UploadState;
  readonly sentBytes: number;
  readonly bytesPerSecond?: number | undefined;
  /** Returns its text in the language that is shown. */
  readonly problem?: (() => string | undefined) | undefined;
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
