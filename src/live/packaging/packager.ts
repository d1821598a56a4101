import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { TrackKind } from '../../media/flv/flv-tag.ts';

export interface PackagerPlan {
  readonly hasVideo: boolean;
  readonly audio: 'none' | 'copy' | 'aac';
}

export type Tracks = Partial<Record<TrackKind, TrackDescription>>;

interface PackagerExit {
  /** `failed`: it died or hung. */
  readonly kind: 'stopped' | 'failed';
  readonly report: string;
}

/** Samples of each track come in decoding order. */
export interface PackagerEvents {
  /** Called once, before the first sample, with the tracks of the plan. */
  tracks(tracks: Tracks): void;
  /** `atMs` is the decoding time of the sample on the broadcast's clock. */
  sample(kind: TrackKind, sample: Sample, atMs: number): void;
  /** Takes input again after `write` returned false. */
  drained(): void;
  exited(exit: PackagerExit): void;
}

/** Converts the FLV tags of a publisher into CMAF samples. The first tags are the tracks' configurations, then a keyframe. */
export interface Packager {
  /**
   * @param atMs decoding time on the broadcast's clock, rising on each track
   * @returns false when the caller should wait for `drained` after this tag
   */
  write(kind: TrackKind, atMs: number, body: Buffer, isConfig: boolean): boolean;
  /** Ends the input: the samples that are inside come out, then `exited`. */
  finish(): Promise<void>;
  /** Discards the samples that are inside. */
  kill(): Promise<void>;
}
