/** Colour description of a video; names are ffmpeg's. */
export interface VideoColor {
  readonly matrix: string;
  readonly primaries: string;
  readonly transfer: string;
  /** The video is RGB: luma is computed with `matrix`. */
  readonly isRgb: boolean;
}

export interface EncodeRendition {
  /** The file is `<name>.mp4`. */
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly bitsPerSecond: number;
}

/** An image burned into a video; in pixels of the displayed picture. */
export interface Overlay {
  readonly path: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** 0..1. */
  readonly opacity: number;
}

export interface EncodedVideo {
  readonly index: number;
  readonly width: number;
  readonly height: number;
  readonly isInterlaced: boolean;
  readonly toneMapFrom: 'smpte2084' | 'arib-std-b67' | undefined;
  readonly isTooFast: boolean;
  /** Average; where it is undefined, frames that follow the previous one too closely are dropped. */
  readonly framesPerSecond?: number | undefined;
  /** Of the encoded video, unless it is tone-mapped; bt709 by default. */
  readonly colour?: VideoColor;
  readonly renditions: readonly EncodeRendition[];
  /** Keyframe times from the beginning, or one every two seconds. */
  readonly keyframesAtSeconds: readonly number[] | 'every-two';
  readonly overlays: readonly Overlay[];
}

/** One encoding run over a source. */
export interface EncodeOptions {
  readonly source: string;
  /** Output folder. */
  readonly folder: string;
  readonly video: EncodedVideo | undefined;
  /** ffprobe's index of the audio stream that becomes `audio.mp4`. */
  readonly audioIndex: number | undefined;
  readonly audioChannels?: number | undefined;
  /** Pads audio with silence until this time of the file: players stop where the shorter of two tracks ends. */
  readonly audioUntilSeconds?: number | undefined;
  /** ffprobe's indexes of all streams of the video: the earliest of them starts at ten seconds, whatever this run encodes. */
  readonly timedBy: readonly number[];
  /** The part of the source to encode. */
  readonly clip: { readonly startSeconds: number; readonly durationSeconds: number | undefined } | undefined;
  readonly preset: string;
  readonly threads: number;
}
