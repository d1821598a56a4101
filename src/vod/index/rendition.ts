import type { FileSlice } from '../../shared/files/file-slice.ts';

/** First presented instant. Above 0, so that reordered frames and priming never have negative times. */
export const TIMELINE_START_SECONDS = 10;

/**
 * Latest start that video keeps, for rounding: the first frame of later video is shown from the start. Audio begins with its
 * priming, and segments of both must begin within a frame of each other.
 */
export const MAX_LATE_VIDEO_SECONDS = 0.002;

export interface RenditionMetadata {
  readonly kind: 'video' | 'audio';
  readonly codec: string;
  readonly timescale: number;
  readonly durationTicks: number;
  /** Size without the init section. */
  readonly bytes: number;
  readonly maxSegmentDurationSeconds: number;
  /** Coded size, before the pixel aspect ratio. */
  readonly width?: number;
  readonly height?: number;
  readonly frameRate?: number;
  readonly videoRange?: 'SDR' | 'HLG' | 'PQ';
  readonly channels?: number;
  readonly sampleRate?: number;
  readonly language?: string;
}

export interface IndexedRendition extends RenditionMetadata {
  readonly file: string;
  /** Starts from the first presented instant. The first may be slightly negative. */
  readonly segmentStartsSeconds: readonly number[];
}

/** Bitrates for EXT-X-STREAM-INF, with container overhead, rounded up. */
export interface BitRates {
  readonly peakBitsPerSecond: number;
  readonly averageBitsPerSecond: number;
}

export interface SegmentBytes {
  readonly parts: readonly (Buffer | FileSlice)[];
  readonly bytes: number;
}

export interface OpenRendition {
  readonly renditionMetadata: RenditionMetadata;
  readonly segmentCount: number;
  readonly init: Buffer;
  /** Start from the first presented instant of the source. */
  startSeconds(index: number): number;
  durationSeconds(index: number): number;
  /** @throws AppError `server-error` when there is no such segment, or its record is damaged */
  readSegment(index: number): Promise<SegmentBytes>;
  /** 0 while there is no segment. **Source**: draft-pantos-hls-rfc8216bis-22, 4.1. */
  bitRates(targetDurationSeconds: number): BitRates;
}
