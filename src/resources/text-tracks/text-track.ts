/** What a text track is for: words to read along, or names of stretches of the video. */
export type TextTrackKind = 'captions' | 'chapters';

/** A WebVTT file that belongs to a video, one of each kind for a language. */
export interface TextTrack {
  readonly videoId: string;
  readonly kind: TextTrackKind;
  /** A tag in its usual case. */
  readonly language: string;
  /** Whether it is shown to whoever has chosen nothing; only captions can be. */
  readonly isDefault: boolean;
  /** Name in the video's folder, new with each upload. */
  readonly file: string;
  readonly bytes: number;
}

/** Largest file of a track. */
export const maxTextTrackBytes = 8 * 1_024 * 1_024;

/** Most tracks of a kind that a video has: more than there are languages. */
export const maxTextTracks = 700;
