import type { ByteRange } from '../../http/responses/byte-range.ts';
import type { OpenedFile } from '../../shared/files/opened-file.ts';
import type { BodyPart } from '../../shared/viewer-responses.ts';

/** Reads the parts of a body in order, and slices that lie close together at once. */
export class BodyReader {
  readonly #parts: readonly BodyPart[];
  readonly #files: ReadonlyMap<string, OpenedFile>;
  #index = 0;
  /** Bytes of the part at `#index` that were returned already. */
  #offset = 0;

  /** @param files an open handle for each path in `parts` */
  constructor(pieces: readonly BodyPart[], files: ReadonlyMap<string, OpenedFile>) {
    this.#parts = pieces;
    this.#files = files;
  }

  /** Reads into `window`. Empty at the end. @throws Error when a file is shorter than announced */
  async next(window: Buffer): Promise<Buffer[]> {
    const parts: (Buffer | { readonly at: number; readonly length: number })[] = [];
    let room = window.length;
    let path: string | undefined;
    let readStart = 0;
    let readEnd = 0;
    while (room > 0 && this.#index < this.#parts.length) {
      const piece = this.#parts[this.#index]!;
      if (piece.length === 0) {
        this.#advance(0, 0);
        continue;
      }
      if (Buffer.isBuffer(piece)) {
        const part = piece.subarray(this.#offset, this.#offset + room);
        parts.push(part);
        room -= part.length;
        this.#advance(part.length, piece.length);
        continue;
      }
      const start = piece.start + this.#offset;
      if (path === undefined) {
        path = piece.path;
        readStart = start;
        readEnd = start;
      } else if (piece.path !== path || start < readEnd || start >= readStart + window.length) {
        break;
      }
      const length = Math.min(piece.length - this.#offset, room, readStart + window.length - start);
      parts.push({ at: start - readStart, length });
      readEnd = start + length;
      room -= length;
      this.#advance(length, piece.length);
    }
    if (path !== undefined) await readFully(this.#files.get(path)!, window, readStart, readEnd - readStart);
    return mergeRuns(parts, window);
  }

  #advance(bytes: number, pieceBytes: number): void {
    this.#offset += bytes;
    if (this.#offset < pieceBytes) return;
    this.#index += 1;
    this.#offset = 0;
  }
}

/** Returns views, without copying or reading. */
export function sliceParts(pieces: readonly BodyPart[], range: ByteRange): BodyPart[] {
  const slices: BodyPart[] = [];
  let offset = 0;
  for (const piece of pieces) {
    const start = Math.max(range.start - offset, 0);
    const end = Math.min(range.end - offset, piece.length);
    if (start < end) {
      slices.push(
        Buffer.isBuffer(piece)
          ? piece.subarray(start, end)
          : { path: piece.path, start: piece.start + start, length: end - start },
      );
    }
    offset += piece.length;
  }
  return slices;
}

/** Merges neighbours in the window, so that hundreds of samples leave as one chunk. */
function mergeRuns(
  parts: readonly (Buffer | { readonly at: number; readonly length: number })[],
  window: Buffer,
): Buffer[] {
  const chunks: Buffer[] = [];
  let runStart = 0;
  let runEnd = 0;
  const endRun = () => {
    if (runEnd > runStart) chunks.push(window.subarray(runStart, runEnd));
    runStart = runEnd;
  };
  for (const part of parts) {
    if (Buffer.isBuffer(part)) {
      endRun();
      chunks.push(part);
    } else {
      if (part.at !== runEnd) window.copyWithin(runEnd, part.at, part.at + part.length);
      runEnd += part.length;
    }
  }
  endRun();
  return chunks;
}

async function readFully(file: OpenedFile, window: Buffer, position: number, length: number): Promise<void> {
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(window, done, length - done, position + done);
    if (bytesRead === 0) throw new Error(`the file ends before byte ${position + length}`);
    done += bytesRead;
  }
}
