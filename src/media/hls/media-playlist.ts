/** EXT-X-PART: a piece of a segment that can be fetched before the segment is complete. */
export interface MediaPart {
  readonly uri: string;
  readonly durationSeconds: number;
  /** It holds a frame at which decoding can begin. */
  readonly independent?: boolean;
  /** It is not there. */
  readonly gap?: boolean;
}

/** What stands before the first part, or the EXTINF, of a segment. */
export interface SegmentStart {
  readonly discontinuity?: boolean;
  /** The init segment in force; where it is left out, that of the segment before. The tag is written only where it changes. */
  readonly map?: { readonly uri: string };
  /** Milliseconds since 1970 of the first frame; a fraction is rounded. */
  readonly programDateTimeMs?: number;
  readonly parts: readonly MediaPart[];
}

/** A complete segment: EXTINF, its URI, and the tags before it. */
export interface MediaSegment extends SegmentStart {
  readonly uri: string;
  readonly durationSeconds: number;
  /** It is not there. */
  readonly gap?: boolean;
}

/** EXT-X-PRELOAD-HINT: what will be listed next, and may be asked for already. */
export interface PreloadHint {
  readonly type: 'PART' | 'MAP';
  readonly uri: string;
}

/** EXT-X-RENDITION-REPORT: how far another media playlist of the stream has come. */
export interface RenditionReport {
  /** Relative to this playlist. */
  readonly uri: string;
  /** Media sequence number of its last segment, complete or open. */
  readonly lastMsn: number;
  /** Index of the last part of that segment. */
  readonly lastPart?: number;
}

/** EXT-X-SERVER-CONTROL: what the server can do. May never change in a broadcast. */
export interface ServerControl {
  readonly canBlockReload: boolean;
  /** At least twice, better three times, the part target. */
  readonly partHoldBackSeconds?: number;
  /** At least three target durations, which is also what its absence means. */
  readonly holdBackSeconds?: number;
  /** At least six target durations. */
  readonly canSkipUntilSeconds?: number;
  readonly canSkipDateRanges?: boolean;
}

/**
 * A media playlist; fields are named after the tags they stand for.
 *
 * **Source**: draft-pantos-hls-rfc8216bis-22, 4.4.
 */
export interface MediaPlaylist {
  /** As read. When writing it is not looked at: the version is what the tags need. */
  readonly version?: number;
  /** A whole number; no segment's duration, rounded, may be above it. */
  readonly targetDurationSeconds: number;
  /** Number of the first segment, skipped ones included. */
  readonly mediaSequence: number;
  /** How many discontinuities have left the list. */
  readonly discontinuitySequence: number;
  /** Every segment can be decoded without the one before. */
  readonly independentSegments: boolean;
  readonly serverControl?: ServerControl;
  /** The longest duration of a part. With more than five decimals it is rounded, and hold-backs made from it may come out short. */
  readonly partTargetSeconds?: number;
  readonly playlistType?: 'EVENT' | 'VOD';
  /** In a delta update: how many segments at the start are left out. */
  readonly skippedSegments?: number;
  readonly segments: readonly MediaSegment[];
  /** The segment after the last one, of which only parts are there yet. */
  readonly openParts?: SegmentStart | undefined;
  /** At most one of each type. Not written once the list has ended. */
  readonly preloadHints: readonly PreloadHint[];
  readonly renditionReports: readonly RenditionReport[];
  /** Nothing will be added any more. */
  readonly endList: boolean;
}
