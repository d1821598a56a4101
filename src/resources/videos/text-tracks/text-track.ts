export type TextTrackKind = 'captions' | 'chapters';

/** One of each kind per language and video. */
export interface TextTrack {
  readonly videoId: string;
  readonly kind: TextTrackKind;
  /** A tag in its canonical case. */
  readonly language: string;
  /** Shown to viewers who chose nothing. Only captions can be. */
  readonly isDefault: boolean;
  /** Name in the video's folder, a new one with each upload. */
  readonly file: string;
  readonly bytes: number;
  /** Captions that the server generated, and nobody edited. */
  readonly isGenerated: boolean;
  /** Sentences about what was mended in the uploaded file. */
  readonly warnings?: readonly string[] | undefined;
}

/** Limit of one kind in one video: more than there are languages. */
export const maxTextTracks = 700;
