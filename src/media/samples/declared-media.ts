export interface AudioLabel {
  readonly name?: string | undefined;
  /** Language as given: any code, not checked. */
  readonly language?: string | undefined;
}

/** Media that an encoder announces, which may be wrong. */
export interface DeclaredMedia {
  readonly hasAudio: boolean;
  readonly hasVideo: boolean;
  /** True once the first picture has begun to arrive. */
  readonly isVideoArriving?: boolean;
  /** Audio and video together. */
  readonly bitsPerSecond?: number | undefined;
  readonly framesPerSecond?: number | undefined;
  /** The name of the encoder, at most 64 printable characters; RTMP itself has only that of a library. */
  readonly encoder?: string | undefined;
  /** Labels by track; absent without several. */
  readonly audioTracks?: ReadonlyMap<number, AudioLabel> | undefined;
}
