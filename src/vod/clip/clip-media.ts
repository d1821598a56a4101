import type { TrackDescription } from '../../media/cmaf/movie-box.ts';
import type { AudioTrack } from '../encoding-repository.ts';

/** Seconds, on the clock of the video or broadcast. */
export interface ClipRange {
  readonly startSeconds: number;
  readonly endSeconds: number;
}

/** Media of all renditions from one keyframe up to another one. */
export interface ClipRow {
  /** Time of the first frame of video, or else of audio, on the clock of the range. */
  readonly startSeconds: number;
  /** Fragments of a rendition, which may begin before the row. Empty when it has none. */
  read(rendition: number): Promise<Buffer>;
}

export interface ClipMedia {
  /** Tracks of each rendition as in its fragments, that with the video first. */
  readonly renditions: readonly (readonly TrackDescription[])[];
  /** Rows in order. The first one reaches back to the start of the range. */
  readonly rows: readonly ClipRow[];
  /** Renditions of the clip that its audio becomes, in the order of the file. Default: those of a recording. */
  readonly audioNames?: readonly string[];
  /** Audio tracks as their owner sees them. Default: as in the file. */
  readonly audioTracks?: readonly AudioTrack[];
  /** Viewers got these very renditions, so that players can use them. Otherwise, they may need to be encoded. */
  readonly isPlayable: boolean;
}
