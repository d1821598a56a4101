import type { FileSlice } from '../../shared/files/file-slice.ts';

/**
 * Presentation time of the first presented instant of a source in all its renditions. Above 0, so that reordered frames and encoder
 * priming never have negative times.
 */
export const TIMELINE_START_SECONDS = 10;

/** Metadata of a rendition. Stored as JSON in its index. */
export interface RenditionMetadata {
  readonly kind: 'video' | 'audio';
  /** RFC 6381 codec string. */
  readonly codec: string;
  readonly timescale: number;
  readonly durationTicks: number;
  /** Without the init section. */
  readonly bytes: number;
  readonly maxSegmentDurationSeconds: number;
  /** Coded size in pixels, before the pixel aspect ratio. */
  readonly width?: number;
  readonly height?: number;
  /** Average in frames per second. */
  readonly frameRate?: number;
  readonly videoRange?: 'SDR' | 'HLG' | 'PQ';
  readonly channels?: number;
  readonly sampleRate?: number;
  /** Tag in the source. */
  readonly language?: string;
}

/** A rendition with a finished index. */
export interface IndexedRendition extends RenditionMetadata {
  /** Path of the index. */
  readonly file: string;
  /** Counted from the first presented instant of the source. The first may be slightly negative. */
  readonly segmentStartsSeconds: readonly number[];
}

/** Bitrates for EXT-X-STREAM-INF, including container overhead, rounded up. */
export interface BitRates {
  readonly peakBitsPerSecond: number;
  readonly averageBitsPerSecond: number;
}

/** The parts of a segment, in order. */
export interface SegmentBytes {
  readonly parts: readonly (Buffer | FileSlice)[];
  /** Sum of the lengths of `parts`. */
  readonly bytes: number;
}

/** A rendition that can be served, finished or growing. Segments are counted from 0 and never change. */
export interface OpenRendition {
  /** Current values while the rendition grows. */
  readonly facts: RenditionMetadata;
  readonly segmentCount: number;
  /** The init section, empty while there is no segment. */
  readonly init: Buffer;
  /** Start of a segment, counted from the first presented instant of the source. */
  startSeconds(index: number): number;
  durationSeconds(index: number): number;
  /** @throws AppError `server-error` when there is no such segment, or its record is damaged */
  readSegment(index: number): Promise<SegmentBytes>;
  /** **Source**: draft-pantos-hls-rfc8216bis-22, 4.1. 0 while there is no segment. */
  bitRates(targetDurationSeconds: number): BitRates;
}
