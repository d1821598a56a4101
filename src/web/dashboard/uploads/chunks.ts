/** A range of bytes; both ends are inclusive and count from 0. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

const mebibyte = 1024 ** 2;
/** Size from which files use larger chunks for fewer requests. Smaller files lose less when paused. */
const largeFileBytes = 1024 ** 3;

/** The server requires at least 5 MiB. */
export function chunkBytesFor(fileBytes: number): number {
  return (fileBytes < largeFileBytes ? 8 : 16) * mebibyte;
}

export function missingChunks(
  fileBytes: number,
  chunkBytes: number,
  received: readonly ByteRange[],
): ByteRange[] {
  const chunks: ByteRange[] = [];
  const fill = (from: number, end: number) => {
    for (let at = from; at < end; at += chunkBytes)
      chunks.push({ from: at, to: Math.min(at + chunkBytes, end) - 1 });
  };
  let at = 0;
  for (const { from, to } of [...received].sort((one, other) => one.from - other.from)) {
    fill(at, Math.min(from, fileBytes));
    at = Math.max(at, to + 1);
  }
  fill(at, fileBytes);
  return chunks;
}

export function countSentBytes(fileBytes: number, missing: readonly ByteRange[]): number {
  return missing.reduce((left, { from, to }) => left - (to - from + 1), fileBytes);
}
