import type { Sample } from '../../media/cmaf/fragment-reader.ts';
import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { TrackKind } from '../../media/flv/flv-tag.ts';

/** What a packager was asked to make. */
export interface PackagerPlan {
  readonly hasVideo: boolean;
  readonly audio: 'none' | 'copy' | 'aac';
}

/** Why a packager is gone. */
export interface PackagerExit {
  /** `failed`: it died or hung, by itself. */
  readonly kind: 'stopped' | 'failed';
  readonly report: string;
}

/** What a packager tells. All of a track's samples come in decoding order. */
export interface PackagerEvents {
  /** Once, before the first sample: the tracks of the plan. */
  tracks(tracks: Partial<Record<TrackKind, TrackDescription>>): void;
  /** `atMs` is the decoding time of the sample on the broadcast's clock. */
  sample(kind: TrackKind, sample: Sample, atMs: number): void;
  /** Takes input again after `write` returned false. */
  drained(): void;
  exited(exit: PackagerExit): void;
}

/** Turns FLV tags of one publisher into CMAF samples. It begins with the configuration tags of its tracks, then a keyframe. */
export interface Packager {
  /**
   * Hands in a tag body.
   *
   * @param atMs decoding time on the broadcast's clock, rising on each track
   * @returns false when the caller should wait for `drained`; the tag is taken all the same
   */
  write(kind: TrackKind, atMs: number, body: Buffer, isConfig: boolean): boolean;
  /** No more input: what is inside comes out, then `exited`. */
  finish(): Promise<void>;
  /** Gives up what is inside. */
  kill(): Promise<void>;
}
