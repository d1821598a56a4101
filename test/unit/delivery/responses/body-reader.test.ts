import type { FileHandle } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { BodyReader, sliceParts } from '../../../../src/delivery/responses/body-reader.ts';
import type { BodyPart } from '../../../../src/shared/viewer-responses.ts';

const file = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 251));
const at = (start: number, length: number, path = 'a'): BodyPart => ({ path, start, length });

/** Reads all of `pieces` through windows of `windowBytes`; gives the bytes of each window and notes each read. */
async function readAll(pieces: readonly BodyPart[], windowBytes: number, maxChunkBytes = 1000) {
  const reads: [position: number, length: number][] = [];
  const handle = {
    read: async (buffer: Buffer, offset: number, length: number, position: number) => {
      reads.push([position, length]);
      const end = Math.min(position + length, position + maxChunkBytes);
      return { bytesRead: file.copy(buffer, offset, position, end) };
    },
  } as unknown as FileHandle;
  const reader = new BodyReader(pieces, new Map(['a', 'b'].map(path => [path, handle])));
  const windows: Buffer[] = [];
  const chunkCounts: number[] = [];
  for (;;) {
    const chunks = await reader.next(Buffer.alloc(windowBytes));
    if (chunks.length === 0) return { reads, windows, chunkCounts, bytes: Buffer.concat(windows) };
    chunkCounts.push(chunks.length);
    windows.push(Buffer.concat(chunks));
  }
}

function expected(pieces: readonly BodyPart[]): Buffer {
  return Buffer.concat(
    pieces.map(piece =>
      Buffer.isBuffer(piece) ? piece : file.subarray(piece.start, piece.start + piece.length),
    ),
  );
}

describe('PieceReader', () => {
  it('reads neighbours at once and gives them as one chunk', async () => {
    const pieces = [Buffer.from('head'), at(10, 5), at(20, 5), at(25, 5), at(80, 10)];
    const { bytes, reads, chunkCounts } = await readAll(pieces, 100);
    expect(bytes.equals(expected(pieces))).toBe(true);
    expect(reads).toEqual([[10, 80]]);
    expect(chunkCounts).toEqual([2]);
  });

  it('reads anew for what stands before, or far behind, or in another file', async () => {
    const pieces = [at(200, 5), at(100, 5), at(500, 5), at(505, 5, 'b')];
    const { bytes, reads } = await readAll(pieces, 100);
    expect(bytes.equals(expected(pieces))).toBe(true);
    expect(reads.map(([position]) => position)).toEqual([200, 100, 500, 505]);
  });

  it('gives no more at once than a window holds', async () => {
    const pieces = [Buffer.alloc(70, 1), at(0, 150), Buffer.alloc(130, 2), at(150, 500)];
    const { bytes, windows } = await readAll(pieces, 64);
    expect(bytes.equals(expected(pieces))).toBe(true);
    for (const window of windows) expect(window.length).toBeLessThanOrEqual(64);
  });

  it('goes on where a read gave less than it should', async () => {
    const pieces = [at(3, 90), at(100, 40)];
    const { bytes } = await readAll(pieces, 200, 7);
    expect(bytes.equals(expected(pieces))).toBe(true);
  });

  it('puts any order of pieces together', async () => {
    let seed = 3;
    const next = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % below;
    };
    for (let round = 0; round < 300; round += 1) {
      const pieces = Array.from({ length: next(12) }, () =>
        next(4) === 0
          ? Buffer.alloc(next(60), next(255))
          : at(next(800), next(200), next(5) === 0 ? 'b' : 'a'),
      );
      const { bytes } = await readAll(pieces, 1 + next(300), 1 + next(300));
      expect(bytes.equals(expected(pieces))).toBe(true);
    }
  });

  it('fails where a file has become shorter', async () => {
    await expect(readAll([at(990, 20)], 100)).rejects.toThrow('the file ends before byte 1010');
  });
});

describe('slicePieces', () => {
  it('gives the same bytes as slicing the whole', () => {
    const pieces = [Buffer.from('0123456789'), at(100, 20), Buffer.alloc(0), at(5, 10)];
    const whole = expected(pieces);
    for (let start = 0; start < whole.length; start += 1) {
      for (let end = start + 1; end <= whole.length; end += 1) {
        const slices = sliceParts(pieces, { start, end });
        expect(expected(slices).equals(whole.subarray(start, end))).toBe(true);
        expect(slices.every(slice => slice.length > 0)).toBe(true);
      }
    }
  });
});
