import type { FileSlice } from '../../shared/files/file-slice.ts';

/**
 * Presentation time, in seconds, of the first presented instant of a source in all its renditions. Above 0 so that neither frames that
 * are decoded before they are shown nor what an audio encoder puts in front ever have a negative time.
 */
export const TIMELINE_START_SECONDS = 10;

/** What is to be known of a rendition. */
export interface RenditionMetadata {
  readonly kind: 'video' | 'audio';
  /** RFC 6381 name, for CODECS. */
  readonly codec: string;
  /** Ticks a second of `durationTicks`. */
  readonly timescale: number;
  /** Of all segments together. */
  readonly durationTicks: number;
  /** Of all segments together, without the init section. */
  readonly bytes: number;
  readonly longestSegmentSeconds: number;
  /** Video: the coded picture in pixels, before the pixel aspect ratio. */
  readonly width?: number;
  readonly height?: number;
  /** Video: frames a second, the average of the whole. */
  readonly frameRate?: number;
  readonly videoRange?: 'SDR' | 'HLG' | 'PQ';
  /** Audio. */
  readonly channels?: number;
  /** Audio: samples a second. */
  readonly sampleRate?: number;
  /** Audio: as the source names it. */
  readonly language?: string;
}

/** A rendition whose index was written. */
export interface IndexedRendition extends RenditionMetadata {
  /** Path of the index. */
  readonly file: string;
  /** When each segment begins, in seconds since the first presented instant of the source; the first may be a bit below 0. */
  readonly segmentStartsSeconds: readonly number[];
}

/** Bit rates as EXT-X-STREAM-INF wants them, containers included; whole numbers, rounded up. */
export interface BitRates {
  readonly peakBitsPerSecond: number;
  readonly averageBitsPerSecond: number;
}

/** Bytes that are sent one after the other. */
export interface SegmentBytes {
  readonly pieces: readonly (Buffer | FileSlice)[];
  /** Sum of the lengths of `pieces`. */
  readonly bytes: number;
}

/** A rendition that can be served: finished, or one that still grows. Segments are counted from 0 and never change. */
export interface OpenRendition {
  /** Of one that grows: as far as it has come. */
  readonly facts: RenditionMetadata;
  readonly segmentCount: number;
  /** The init section. Of one that grows: empty while there is no segment. */
  readonly init: Buffer;
  /** When a segment begins, in seconds since the first presented instant of the source. */
  startSeconds(index: number): number;
  durationSeconds(index: number): number;
  /**
   * A segment's bytes.
   *
   * @throws AppError `server-error` when there is no such segment, or its place in the index is damaged
   */
  pieces(index: number): Promise<SegmentBytes>;
  /** By the rule of draft-pantos-hls-rfc8216bis-22, 4.1; 0 while there is no segment. */
  bitRates(targetDurationSeconds: number): BitRates;
}
