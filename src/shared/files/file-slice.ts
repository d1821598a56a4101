export interface FileSlice {
  readonly path: string;
  readonly start: number;
  readonly length: number;
}
