import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { ColorInfo } from '../../media/samples/color-info.ts';
import type { CodecConfig, MediaSample, TrackKind } from '../../media/samples/media-sample.ts';

/** `aac` converts audio that HLS cannot carry; `both` adds AAC for players that cannot decode the codec. */
export type AudioTreatment = 'copy' | 'aac' | 'both';

export interface PackagerPlan {
  readonly hasVideo: boolean;
  readonly audio: AudioTreatment | 'none';
  /** Frame rate that the encoder declares. */
  readonly framesPerSecond?: number | undefined;
  /** Colours that the encoder declares. */
  readonly color?: ColorInfo | undefined;
}

export type Tracks = Partial<Record<TrackKind, TrackDescription>>;

export interface PackagedTracks extends Tracks {
  /** The publisher's audio, beside `audio`, which was encoded from it. */
  readonly originalAudio?: TrackDescription;
  /** `audio` may be late, or missing for some time. */
  readonly isAudioEncoded?: boolean;
}

interface PackagerExit {
  readonly kind: 'stopped' | 'failed';
  readonly report: string;
}

export interface PackagerEvents {
  /** Called once, before the first sample. */
  tracks(tracks: PackagedTracks): void;
  /** `atMs` is the decode time on the broadcast's clock. */
  sample(kind: TrackKind, sample: Sample, atMs: number): void;
  originalAudio?(sample: Sample, atMs: number): void;
  drained(): void;
  /** A frame of the input cannot be packaged. */
  dropped(): void;
  exited(exit: PackagerExit): void;
}

/** Media of an additional track, which is packaged beside the main ones. */
export interface AdditionalSample {
  readonly media: MediaSample | CodecConfig;
  readonly treatment: AudioTreatment;
  /** Decode time on the broadcast's clock, rising per track. */
  readonly atMs: number;
}

/** Events of one packager. Its owner handles the rest. */
export interface PackagedMedia
  extends Pick<PackagerEvents, 'tracks' | 'sample' | 'originalAudio' | 'exited'> {
  /** Configurations come before the main tracks where they are known. */
  additional(sample: AdditionalSample): void;
}

/** Converts media into CMAF samples. Configurations come first, then a keyframe. */
export interface Packager {
  /**
   * @param atMs decode time on the broadcast's clock, rising per track
   * @returns false to wait for `drained`
   */
  write(media: MediaSample | CodecConfig, atMs: number): boolean;
  finish(): Promise<void>;
  kill(): Promise<void>;
}
