import type { VideoStatus } from '../../api/api-types.ts';

/**
 * How far a video has come. `empty`: nothing was sent; `arriving`: it is being uploaded or fetched; `processing`: it is looked into;
 * `encoding`: qualities are missing; `ready`: all is done; `failed`: nothing can come of it.
 */
export type VideoStage = 'empty' | 'arriving' | 'processing' | 'encoding' | 'ready' | 'failed';

/** Where a video stands on its way to viewers. */
export interface VideoProgress {
  readonly stage: VideoStage;
  /** 0..100, of the stage alone; undefined where nobody knows. */
  readonly percent: number | undefined;
  readonly isPlayable: boolean;
  /** Why nothing can come of it. */
  readonly failure: string | undefined;
}

/** One rendition of a video, with its progress. */
export type Quality = VideoStatus['encoding']['qualities'][number];

/** Sums a status up. */
export function progressOf({ ingest, encoding }: VideoStatus): VideoProgress {
  const { playable: isPlayable, qualities, failure } = encoding;
  const at = (stage: VideoStage, percent?: number): VideoProgress => ({
    stage,
    percent,
    isPlayable,
    failure,
  });
  if (failure !== undefined && !isPlayable) return at('failed');
  if (qualities.some(({ status }) => status === 'waiting' || status === 'encoding')) {
    return at('encoding', meanOf(qualities.map(percentOf)));
  }
  if (isPlayable) return at('ready');
  if (ingest === undefined) return at('empty');
  if (ingest.status === 'uploading' || ingest.status === 'ingesting')
    return at('arriving', arrivedOf(ingest));
  return at(qualities.length > 0 ? 'failed' : 'processing');
}

/** The status after a message of the feed about one rendition, or the same one where it is none of this video's. */
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

function percentOf({ status, progress }: Quality): number {
  return status === 'encoded' || status === 'failed' ? 100 : progress;
}

function arrivedOf({ receivedBytes, receivedParts }: NonNullable<VideoStatus['ingest']>): number | undefined {
  const total = receivedBytes[0]?.total;
  if (total !== undefined && total > 0) {
    // Ends are inclusive.
    const received = receivedBytes.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    return Math.min(100, (100 * received) / total);
  }
  if (receivedParts?.total == null || receivedParts.total === 0) return undefined;
  return Math.min(100, (100 * receivedParts.parts.length) / receivedParts.total);
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
