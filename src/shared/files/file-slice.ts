/** Bytes of a file on disk: from `start`, `length` long. */
export interface FileSlice {
  readonly path: string;
  readonly start: number;
  readonly length: number;
}
