export interface Watermark {
  readonly watermarkId: string;
  readonly projectId: string;
  readonly name: string | undefined;
  readonly mediaType: string;
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly createdAtMs: number;
}
