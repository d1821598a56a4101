import type { Video, VideoStatus } from '../api/api-types.ts';

/** How it stands with a video, as people see it. */
export interface VideoState {
  /**
   * - `empty`: made, and no file has come
   * - `recording`, `uploading`, `fetching`: its file is on its way
   * - `processing`: nothing can be played yet
   * - `playable`: it can be watched, while more qualities are made
   * - `ready`, `failed`
   */
  readonly kind:
    | 'empty'
    | 'recording'
    | 'uploading'
    | 'fetching'
    | 'processing'
    | 'playable'
    | 'ready'
    | 'failed';
  /** How far that is, 0..100, where it is known. */
  readonly percent?: number;
  /** Why nothing comes of it. */
  readonly failure?: string;
}

/** Says how it stands with a video. */
export function videoStateOf(
  { source }: Pick<Video, 'source'>,
  { ingest, encoding }: VideoStatus,
): VideoState {
  const { failure, playable, qualities } = encoding;
  if (failure !== undefined && !playable) return { kind: 'failed', failure };
  const isUnfinished = qualities.some(({ status }) => status === 'waiting' || status === 'encoding');
  if (playable) return isUnfinished ? { kind: 'playable', percent: percentOf(qualities) } : { kind: 'ready' };
  const isRecording = source.type === 'liveStream';
  if (ingest === undefined) return { kind: isRecording ? 'recording' : 'empty' };
  if (ingest.status === 'ingesting') return { kind: 'fetching' };
  if (ingest.status === 'uploading') {
    if (isRecording) return { kind: 'recording' };
    const total = ingest.receivedBytes[0]?.total;
    if (total === undefined || total === 0) return { kind: 'uploading' };
    const received = ingest.receivedBytes.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    return { kind: 'uploading', percent: Math.floor((100 * received) / total) };
  }
  if (qualities.some(({ status }) => status === 'failed') && !isUnfinished) {
    return { kind: 'failed', failure: 'None of its qualities could be made.' };
  }
  return qualities.length === 0
    ? { kind: 'processing' }
    : { kind: 'processing', percent: percentOf(qualities) };
}

/** Whether nothing will change by itself any more. */
export function isSettled({ kind }: VideoState): boolean {
  return kind === 'ready' || kind === 'failed' || kind === 'empty';
}

/** A status after a message of the event feed about its encoding. */
export function withProgress(
  status: VideoStatus,
  { encoding: type, quality, percent }: Readonly<Record<string, unknown>>,
): VideoStatus {
  if (typeof percent !== 'number') return status;
  const qualities = status.encoding.qualities.map(one =>
    one.type === type && one.quality === quality && one.status !== 'encoded'
      ? { ...one, status: 'encoding' as const, progress: Math.round(percent) }
      : one,
  );
  return { ...status, encoding: { ...status.encoding, qualities } };
}

function percentOf(qualities: VideoStatus['encoding']['qualities']): number {
  const sum = qualities.reduce(
    (all, { status, progress }) => all + (status === 'encoded' ? 100 : progress),
    0,
  );
  return Math.floor(sum / Math.max(1, qualities.length));
}
