import type { AdditionalCodec } from '../../shared/additional-codecs.ts';
import type { EncoderDevice } from '../hardware/encoder-device.ts';

export interface VideoColor {
  readonly matrix: string;
  readonly primaries: string;
  readonly transfer: string;
  /** Luma is computed with `matrix`. */
  readonly isRgb: boolean;
}

export interface EncodeRendition {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly bitsPerSecond: number;
}

/** Rectangle in pixels of the displayed picture. */
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
  /** Average. Undefined: drops frames that follow the previous one too closely. */
  readonly framesPerSecond?: number | undefined;
  /** Replaces the times of the source. */
  readonly assumedFramesPerSecond?: number | undefined;
  /** Colours of the encoded video, unless tone-mapped; default bt709. */
  readonly colour?: VideoColor;
  readonly renditions: readonly EncodeRendition[];
  readonly keyframesAtSeconds: readonly number[] | 'every-two';
  readonly overlays: readonly Overlay[];
}

export interface EncodedAudio {
  /** Becomes `NAME.mp4`. */
  readonly name: string;
  readonly index: number;
  /** Index of the track with the right channel, when `index` has only the left one. */
  readonly rightIndex?: number | undefined;
  /** Channels of the source. */
  readonly channels: number;
  /** 5.1 instead of stereo. */
  readonly isSurround: boolean;
  /** Pads audio with silence until this time: players stop where the shorter track ends. */
  readonly untilSeconds: number | undefined;
}

export interface SourceClock {
  /** Time of the first presented instant: in the file when the clock is steady, otherwise after the first frame of any stream. */
  readonly leadSeconds: number;
  /** True when times are taken as they are, and jumps and delays are no new clock. */
  readonly isSteady: boolean;
}

export interface EncodeOptions {
  readonly source: string;
  readonly folder: string;
  readonly video: EncodedVideo | undefined;
  readonly audio: readonly EncodedAudio[];
  /** File of `steadyAudioCommand`, read instead of the audio of the source. */
  readonly steadyAudio?: string | undefined;
  /** Indexes of all streams of the video, whatever this run encodes: the earliest starts at ten seconds. */
  readonly timedBy: readonly number[];
  readonly clock?: SourceClock | undefined;
  readonly clip: { readonly startSeconds: number; readonly durationSeconds: number | undefined } | undefined;
  /** Undefined: H.264. */
  readonly codec?: AdditionalCodec | undefined;
  /** Undefined: software. */
  readonly device?: EncoderDevice | undefined;
  readonly preset: string;
  readonly threads: number;
}
