import type { Video, VideoStatus } from '../api/api-types.ts';
import { t } from '../texts/shell.ts';

export interface VideoState {
  /** `encoding`: no rendition can be played yet; `playable`: more renditions are made. */
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
  /** 0 to 100, whole. */
  readonly percent?: number;
  readonly failure?: string;
  /** The fault of the server for which the work waits. */
  readonly delay?: string;
}

export type Quality = VideoStatus['encoding']['qualities'][number];
/** One rendition in a codec other than H.264. */
export type AdditionalQuality = NonNullable<VideoStatus['encoding']['additionalQualities']>[number];

export function videoStateOf(video: Pick<Video, 'source'>, status: VideoStatus): VideoState {
  const state = progressOf(video, status);
  const { delay } = status.encoding;
  return delay === undefined ? state : { ...state, delay };
}

function progressOf({ source }: Pick<Video, 'source'>, { ingest, encoding }: VideoStatus): VideoState {
  const { failure, playable, qualities } = encoding;
  if (failure !== undefined && !playable) return { kind: 'failed', failure };
  if (qualities.some(isPending)) {
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
  return qualities.length === 0 ? { kind: 'processing' } : { kind: 'failed', failure: t('video.noQuality') };
}

export function isSettled({ kind }: VideoState): boolean {
  return kind === 'ready' || kind === 'failed' || kind === 'empty';
}

export function isPending({ status }: Pick<Quality, 'status'>): boolean {
  return status === 'waiting' || status === 'encoding';
}

export function isAudioOnly({ encoding: { metadata } }: VideoStatus): boolean {
  return metadata.audioCodec !== null && metadata.videoCodec === null;
}

export function isWatchable({ kind }: VideoState): boolean {
  return kind === 'playable' || kind === 'ready';
}

/** Returns the same object if the message changes nothing. */
export function withProgress(status: VideoStatus, message: Readonly<Record<string, unknown>>): VideoStatus {
  const { encoding: type, quality, percent } = message;
  if (typeof percent !== 'number') return status;
  const isMeant = (one: Quality | AdditionalQuality) =>
    ('codec' in one ? one.codec : one.type) === type &&
    one.quality === quality &&
    one.status !== 'encoded' &&
    one.progress < percent;
  const { qualities, additionalQualities = [] } = status.encoding;
  if (![...qualities, ...additionalQualities].some(isMeant)) return status;
  const progressed = <One extends Quality | AdditionalQuality>(one: One): One =>
    isMeant(one) ? { ...one, status: 'encoding', progress: Math.min(100, Math.floor(percent)) } : one;
  return {
    ...status,
    encoding: {
      ...status.encoding,
      qualities: qualities.map(progressed),
      ...(additionalQualities.length === 0
        ? {}
        : { additionalQualities: additionalQualities.map(progressed) }),
    },
  };
}

function receivedPercentOf({
  receivedBytes,
  receivedParts,
}: NonNullable<VideoStatus['ingest']>): number | undefined {
  const total = receivedBytes[0]?.total;
  if (total !== undefined && total > 0) {
    return share(
      receivedBytes.reduce((sum, { from, to }) => sum + to - from + 1, 0),
      total,
    );
  }
  if (receivedParts?.total == null || receivedParts.total === 0) return undefined;
  return share(receivedParts.parts.length, receivedParts.total);
}

function percentOf(qualities: readonly Quality[]): number {
  // A failed rendition is finished, too.
  const isOver = ({ status }: Quality) => status === 'encoded' || status === 'failed';
  const sum = qualities.reduce((all, one) => all + (isOver(one) ? 100 : one.progress), 0);
  return share(sum, 100 * qualities.length);
}

function share(part: number, whole: number): number {
  return Math.min(100, Math.floor((100 * part) / whole));
}
