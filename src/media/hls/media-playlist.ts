/** EXT-X-PART. */
export interface MediaPart {
  readonly uri: string;
  readonly durationSeconds: number;
  readonly independent?: boolean;
  readonly gap?: boolean;
}

/** Tags before the first part, or the EXTINF, of a segment. */
export interface SegmentStart {
  readonly discontinuity?: boolean;
  /** Defaults to that of the preceding segment. Written only when it changes. */
  readonly map?: { readonly uri: string };
  /** Unix time of the first frame; rounded when written. */
  readonly programDateTimeMs?: number;
  readonly parts: readonly MediaPart[];
}

export interface MediaSegment extends SegmentStart {
  readonly uri: string;
  readonly durationSeconds: number;
  readonly gap?: boolean;
  /**
   * EXT-X-MILLRACE-FILLER, a tag of ours that the player page reads: the segment has no media of the publisher, which
   * sent none in time or stopped.
   */
  readonly filler?: 'NO-MEDIA' | 'STOPPED' | undefined;
}

/** EXT-X-PRELOAD-HINT. */
export interface PreloadHint {
  readonly type: 'PART' | 'MAP';
  readonly uri: string;
}

/** EXT-X-RENDITION-REPORT. */
export interface RenditionReport {
  readonly uri: string;
  /** Last segment, complete or open. */
  readonly lastMsn: number;
  readonly lastPart?: number;
}

/** EXT-X-SERVER-CONTROL: must not change during a broadcast. */
export interface ServerControl {
  readonly canBlockReload: boolean;
  /** Hold-back for parts: at least twice, better three times, the part target. */
  readonly partHoldBackSeconds?: number;
  /** Defaults to three target durations, the minimum. */
  readonly holdBackSeconds?: number;
  /** Skip boundary: at least six target durations. */
  readonly canSkipUntilSeconds?: number;
  readonly canSkipDateRanges?: boolean;
}

/** Fields are named after their tags. draft-pantos-hls-rfc8216bis-22, 4.4. */
export interface MediaPlaylist {
  /** Set when parsed, ignored when written. */
  readonly version?: number;
  /** An integer; no segment's rounded duration may exceed it. */
  readonly targetDurationSeconds: number;
  /** Media sequence of the first segment, including skipped ones. */
  readonly mediaSequence: number;
  /** Discontinuities that left the playlist. */
  readonly discontinuitySequence: number;
  readonly independentSegments: boolean;
  readonly serverControl?: ServerControl;
  /** Rounded to five decimals, which can make hold-backs derived from it too short. */
  readonly partTargetSeconds?: number;
  readonly playlistType?: 'EVENT' | 'VOD';
  /** Omitted at the start by a delta update. */
  readonly skippedSegments?: number;
  readonly segments: readonly MediaSegment[];
  readonly openParts?: SegmentStart | undefined;
  /** Preload hints, at most one of each type. Not written with `endList`. */
  readonly preloadHints: readonly PreloadHint[];
  readonly renditionReports: readonly RenditionReport[];
  readonly endList: boolean;
}
