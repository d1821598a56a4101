/** EXT-X-PART: a part of a segment, available before the segment is complete. */
export interface MediaPart {
  readonly uri: string;
  readonly durationSeconds: number;
  /** Contains a keyframe. */
  readonly independent?: boolean;
  /** Not available. */
  readonly gap?: boolean;
}

/** The tags before the first part, or the EXTINF, of a segment. */
export interface SegmentStart {
  readonly discontinuity?: boolean;
  /** The init segment; by default that of the preceding segment. Written only when it changes. */
  readonly map?: { readonly uri: string };
  /** Unix time in milliseconds of the first frame; rounded when written. */
  readonly programDateTimeMs?: number;
  readonly parts: readonly MediaPart[];
}

/** A complete segment: EXTINF, its URI, and the tags before it. */
export interface MediaSegment extends SegmentStart {
  readonly uri: string;
  readonly durationSeconds: number;
  /** Not available. */
  readonly gap?: boolean;
}

/** EXT-X-PRELOAD-HINT: a resource that will be listed next and can be requested already. */
export interface PreloadHint {
  readonly type: 'PART' | 'MAP';
  readonly uri: string;
}

/** EXT-X-RENDITION-REPORT: the newest segment and part of another rendition. */
export interface RenditionReport {
  /** Relative to this playlist. */
  readonly uri: string;
  /** Media sequence number of its last segment, complete or open. */
  readonly lastMsn: number;
  /** Index of the last part of that segment. */
  readonly lastPart?: number;
}

/** EXT-X-SERVER-CONTROL: must not change during a broadcast. */
export interface ServerControl {
  readonly canBlockReload: boolean;
  /** At least twice, better three times, the part target. */
  readonly partHoldBackSeconds?: number;
  /** At least three target durations, which is the default. */
  readonly holdBackSeconds?: number;
  /** At least six target durations. */
  readonly canSkipUntilSeconds?: number;
  readonly canSkipDateRanges?: boolean;
}

/** A media playlist; fields are named after their tags. **Source**: draft-pantos-hls-rfc8216bis-22, 4.4. */
export interface MediaPlaylist {
  /** Set when parsed, ignored when written. */
  readonly version?: number;
  /** An integer; no segment's rounded duration may exceed it. */
  readonly targetDurationSeconds: number;
  /** Number of the first segment, including skipped ones. */
  readonly mediaSequence: number;
  /** Number of discontinuities that left the playlist. */
  readonly discontinuitySequence: number;
  /** Every segment starts with a keyframe. */
  readonly independentSegments: boolean;
  readonly serverControl?: ServerControl;
  /** Maximum duration of a part. Rounded to five decimals, which can make hold-backs derived from it too short. */
  readonly partTargetSeconds?: number;
  readonly playlistType?: 'EVENT' | 'VOD';
  /** Delta updates: number of segments that are omitted at the start. */
  readonly skippedSegments?: number;
  readonly segments: readonly MediaSegment[];
  /** Parts of the segment that is not complete yet. */
  readonly openParts?: SegmentStart | undefined;
  /** At most one of each type. Not written with `endList`. */
  readonly preloadHints: readonly PreloadHint[];
  readonly renditionReports: readonly RenditionReport[];
  readonly endList: boolean;
}
