/** Bytes `from` to `to` of a file, both included, from 0. */
export interface ByteRange {
  readonly from: number;
  readonly to: number;
}

const mebibyte = 1024 ** 2;
/** Files from here on go in larger chunks: fewer requests, while a pause loses little of a smaller file. */
const largeFileBytes = 1024 ** 3;
/** The server takes files below this. */
const maxFileBytes = 10_000_000_000;

/** In what chunks a file of this many bytes is sent; the server takes them from 5 MiB on. */
export function chunkBytesFor(fileBytes: number): number {
  return (fileBytes < largeFileBytes ? 8 : 16) * mebibyte;
}

/** Why a file cannot be uploaded at all; undefined when it can. */
export function fileRefusal(fileBytes: number): string | undefined {
  if (fileBytes === 0) return 'The file is empty.';
  if (fileBytes >= maxFileBytes) return 'The file is too large: it must be smaller than 10 GB.';
  return undefined;
}

/** What is still to be sent of a file, in order. @param received what the server has, in any order */
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

/** How many bytes of a file are not among what is missing. */
export function countSentBytes(fileBytes: number, missing: readonly ByteRange[]): number {
  return missing.reduce((left, { from, to }) => left - (to - from + 1), fileBytes);
}
