/** Uploaded captions, or those inside the video. */
export interface Caption {
  readonly language: string;
  readonly label: string;
  readonly default: boolean;
}

export interface CaptionFile extends Caption {
  readonly src: string;
}
