import type { Video, VideoStatus } from '../api/api-types.ts';

/** How it stands with a video, as people see it. */
export interface VideoState {
  /**
   * - `empty`: made, and no file has come
   * - `recording`, `uploading`, `fetching`: its file is on its way
   * - `processing`: its file is looked into
   * - `encoding`: its qualities are made, and none can be played yet
   * - `playable`: it can be watched, while more qualities are made
   * - `ready`, `failed`
   */
  readonly kind:
    | 'empty'
    | 'recording'
    | 'uploading'
    | 'fetching'
    | 'processing'
    | 'encoding'
    | 'playable'
    | 'ready'
    | 'failed';
  /** How far that is, whole 0..100, where it is known. */
  readonly percent?: number;
  /** Why nothing comes of it. */
  readonly failure?: string;
}

/** One rendition of a video, with its progress. */
export type Quality = VideoStatus['encoding']['qualities'][number];

/** Says how it stands with a video. */
export function videoStateOf(
  { source }: Pick<Video, 'source'>,
  { ingest, encoding }: VideoStatus,
): VideoState {
  const { failure, playable, qualities } = encoding;
  if (failure !== undefined && !playable) return { kind: 'failed', failure };
  if (qualities.some(({ status }) => status === 'waiting' || status === 'encoding')) {
    return { kind: playable ? 'playable' : 'encoding', percent: percentOf(qualities) };
  }
  if (playable) return { kind: 'ready' };
  const isRecording = source.type === 'liveStream';
  if (ingest === undefined) return { kind: isRecording ? 'recording' : 'empty' };
  if (ingest.status === 'ingesting') return { kind: 'fetching' };
  if (ingest.status === 'uploading') {
    if (isRecording) return { kind: 'recording' };
    const percent = receivedPercentOf(ingest);
    return percent === undefined ? { kind: 'uploading' } : { kind: 'uploading', percent };
  }
  return qualities.length === 0
    ? { kind: 'processing' }
    : { kind: 'failed', failure: 'None of its qualities could be made. Try the file in another format.' };
}

/** Whether nothing will change by itself any more. */
export function isSettled({ kind }: VideoState): boolean {
  return kind === 'ready' || kind === 'failed' || kind === 'empty';
}

/** Returns whether a video's file has audio and no video, as far as that is known. */
export function isAudioOnly({ encoding: { metadata } }: VideoStatus): boolean {
  return metadata.audioCodec !== null && metadata.videoCodec === null;
}

/** Whether viewers can watch it. */
export function isWatchable({ kind }: VideoState): boolean {
  return kind === 'playable' || kind === 'ready';
}

/** The status after a message of the event feed about one rendition, or the same one where it tells nothing new of this video's. */
export function withProgress(status: VideoStatus, message: Readonly<Record<string, unknown>>): VideoStatus {
  const { encoding: type, quality, percent } = message;
  if (typeof percent !== 'number') return status;
  const isMeant = (one: Quality) =>
    one.type === type && one.quality === quality && one.status !== 'encoded' && one.progress < percent;
  if (!status.encoding.qualities.some(isMeant)) return status;
  const qualities = status.encoding.qualities.map(one =>
    isMeant(one)
      ? { ...one, status: 'encoding' as const, progress: Math.min(100, Math.floor(percent)) }
      : one,
  );
  return { ...status, encoding: { ...status.encoding, qualities } };
}

function receivedPercentOf({
  receivedBytes,
  receivedParts,
}: NonNullable<VideoStatus['ingest']>): number | undefined {
  const total = receivedBytes[0]?.total;
  if (total !== undefined && total > 0) {
    // Ends are inclusive.
    return share(
      receivedBytes.reduce((sum, { from, to }) => sum + to - from + 1, 0),
      total,
    );
  }
  if (receivedParts?.total == null || receivedParts.total === 0) return undefined;
  return share(receivedParts.parts.length, receivedParts.total);
}

function percentOf(qualities: readonly Quality[]): number {
  // Nothing more comes of one that failed.
  const isOver = ({ status }: Quality) => status === 'encoded' || status === 'failed';
  const sum = qualities.reduce((all, one) => all + (isOver(one) ? 100 : one.progress), 0);
  return share(sum, 100 * qualities.length);
}

function share(part: number, whole: number): number {
  return Math.min(100, Math.floor((100 * part) / whole));
}
