import { describe, expect, it } from 'vitest';
import {
  type ContentRange,
  checkChunkSize,
  checkRange,
  isFirstChunk,
  isWholeFile,
  parseContentRange,
  type RangedUpload,
} from '../../../../../src/resources/videos/uploads/content-range.ts';
import { AppError, type ErrorCode } from '../../../../../src/shared/errors.ts';

/** Returns what `work` throws: the error's code without the part that all of them have, or nothing. */
function codeOf(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    const { code, details } = error as AppError & { code: ErrorCode };
    expect(details.name).toBe('file');
    return code.replace('video-content-range-', '');
  }
}

const bytes = (first: number, last: number, total?: number): ContentRange => ({
  unit: 'bytes',
  first,
  last,
  total,
});
const part = (number: number, total?: number): ContentRange => ({
  unit: 'parts',
  first: number,
  last: number,
  total,
});
const mebibyte = 1_048_576;

describe('a Content-Range header', () => {
  it.each([
    ['bytes 0-9/10', bytes(0, 9, 10)],
    ['bytes 5242880-10485759/10485760', bytes(5_242_880, 10_485_759, 10_485_760)],
    ['bytes 0-209715199/*', bytes(0, 209_715_199)],
    ['bytes 0-0/9999999999', bytes(0, 0, 9_999_999_999)],
    ['part 1/1', part(1, 1)],
    ['part 1/3', part(1, 3)],
    ['part 2/*', part(2)],
    ['part 10000/10000', part(10_000, 10_000)],
    ['part%201%2F3', part(1, 3)],
    ['bytes%200-9%2F10', bytes(0, 9, 10)],
    [' part 1/3 ', part(1, 3)],
  ])('%j is read', (header, range) => {
    expect(parseContentRange(header)).toEqual(range);
  });

  it('that is absent is no range', () => {
    expect(parseContentRange(undefined)).toBeUndefined();
  });

  it.each([
    ['', 'malformed'],
    ['bytes', 'malformed'],
    ['bytes 0-9', 'malformed'],
    ['bytes */10', 'malformed'],
    ['bytes 0-/10', 'malformed'],
    ['bytes -1-9/10', 'malformed'],
    ['bytes=0-9/10', 'malformed'],
    ['bytes 0-9/10, bytes 10-19/20', 'malformed'],
    ['part 1', 'malformed'],
    ['part */3', 'malformed'],
    ['part a/3', 'malformed'],
    ['part 1.5/3', 'malformed'],
    ['part%2', 'malformed'],
    ['bytes 0-9/0', 'by-bytes-total-bytes-zero'],
    ['bytes 10-9/20', 'by-bytes-from-byte-too-high'],
    ['bytes 0-9/52428800001', 'by-bytes-total-bytes-too-high'],
    [`bytes 0-9/${'9'.repeat(400)}`, 'by-bytes-total-bytes-too-high'],
    ['bytes 0-52428800000/*', 'by-bytes-to-byte-too-high-allowed'],
    ['bytes 0-10/10', 'by-bytes-to-byte-too-high-total'],
    ['bytes 0-9/10000000000', 'uploaded-file-too-large'],
    ['bytes 0-9/52428800000', 'uploaded-file-too-large'],
    ['bytes 9999999999-9999999999/*', 'uploaded-file-too-large'],
    ['bytes 0-209715200/209715201', 'by-bytes-range-too-large'],
    ['part 0/3', 'by-part-part-zero'],
    ['part 1/0', 'by-part-total-parts-zero'],
    ['part 10001/*', 'by-part-part-too-high-allowed'],
    ['part 1/10001', 'by-part-total-parts-too-high'],
    ['part 4/3', 'by-part-part-too-high-total'],
  ])('%j is refused: %s', (header, code) => {
    expect(codeOf(() => parseContentRange(header))).toBe(code);
  });

  it('says what is a beginning, and what is a whole', () => {
    expect([bytes(0, 9), part(1), bytes(1, 9), part(2)].map(isFirstChunk)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(
      [bytes(0, 9, 10), part(1, 1), bytes(0, 9), bytes(0, 8, 10), part(1), part(1, 2)].map(isWholeFile),
    ).toEqual([true, true, false, false, false, false]);
  });
});

describe('one more chunk', () => {
  const upload = (state: Partial<RangedUpload>): RangedUpload => ({
    unit: 'bytes',
    total: undefined,
    isComplete: false,
    highest: -1,
    overlapping: undefined,
    ...state,
  });
  const byParts = (state: Partial<RangedUpload>) => upload({ unit: 'parts', ...state });

  it.each<[what: string, range: ContentRange, state: RangedUpload | undefined, verdict: 'new' | 'repeat']>([
    ['the first', bytes(0, 9, 10), undefined, 'new'],
    ['the next', bytes(10, 19), upload({ highest: 9 }), 'new'],
    ['one that tells the total', bytes(10, 19, 20), upload({ highest: 9 }), 'new'],
    ['one that leaves the total out', bytes(10, 19), upload({ highest: 9, total: 20 }), 'new'],
    ['one before', bytes(0, 9), upload({ highest: 19 }), 'new'],
    ['the same', bytes(0, 9), upload({ highest: 9, overlapping: { first: 0, last: 9 } }), 'repeat'],
    ['the last part', part(3, 3), byParts({ highest: 2 }), 'new'],
    ['the same part', part(2, 3), byParts({ highest: 3, total: 3, overlapping: part(2) }), 'repeat'],
    [
      'the same part of a whole',
      part(2, 2),
      byParts({ highest: 2, total: 2, isComplete: true, overlapping: part(2) }),
      'repeat',
    ],
  ])('is taken: %s', (_what, range, state, verdict) => {
    expect(checkRange(range, state)).toBe(verdict);
  });

  it.each<[code: string, range: ContentRange, state: RangedUpload]>([
    ['started-with-part', bytes(0, 9, 10), byParts({})],
    ['started-with-bytes', part(1, 2), upload({})],
    ['video-source-already-uploaded', bytes(0, 9, 20), upload({ isComplete: true, total: 20, highest: 19 })],
    [
      'video-source-already-uploaded',
      part(1, 2),
      byParts({ highest: 2, total: 2, isComplete: true, overlapping: part(1) }),
    ],
    ['by-bytes-total-bytes-too-low', bytes(0, 8, 9), upload({ highest: 9 })],
    ['by-bytes-different-total-bytes', bytes(10, 19, 20), upload({ total: 30, highest: 9 })],
    ['by-bytes-to-byte-too-high-total', bytes(10, 20), upload({ total: 20, highest: 9 })],
    ['by-bytes-range-overlap', bytes(5, 14), upload({ highest: 9, overlapping: { first: 0, last: 9 } })],
    ['by-bytes-range-overlap', bytes(0, 4), upload({ highest: 9, overlapping: { first: 0, last: 9 } })],
    ['by-part-total-parts-too-low', part(2, 3), byParts({ highest: 3 })],
    ['by-part-different-total-parts', part(2, 4), byParts({ total: 3, highest: 1 })],
    ['by-part-part-too-high-total', part(4), byParts({ total: 3, highest: 1 })],
  ])('is refused: %s', (code, range, state) => {
    expect(codeOf(() => checkRange(range, state))).toBe(code);
  });
});

describe('the size of a chunk', () => {
  it.each<[range: ContentRange, total: number | undefined, size: number]>([
    [bytes(0, 5 * mebibyte - 1, 20 * mebibyte), 20 * mebibyte, 5 * mebibyte],
    [bytes(5, 5, 6), 6, 1],
    [bytes(5, 5), 6, 1],
    [part(1, 3), 3, 5 * mebibyte],
    [part(3, 3), 3, 1],
    [part(3), 3, 1],
    [part(1), undefined, 200 * mebibyte],
  ])('is right: %j of %s with %d bytes', (range, total, size) => {
    expect(codeOf(() => checkChunkSize(range, total, size))).toBeUndefined();
  });

  it.each<[code: string, range: ContentRange, total: number | undefined, size: number]>([
    ['by-bytes-range-mismatch', bytes(0, 9, 10), 10, 9],
    ['by-bytes-range-mismatch', bytes(0, 9, 10), 10, 11],
    ['by-bytes-range-too-small', bytes(0, 5 * mebibyte - 2, 20 * mebibyte), 20 * mebibyte, 5 * mebibyte - 1],
    ['by-bytes-range-too-small', bytes(0, 9), undefined, 10],
    ['by-part-uploaded-file-too-small', part(1, 3), 3, 5 * mebibyte - 1],
    ['by-part-uploaded-file-too-small', part(1), undefined, 1],
    ['uploaded-file-too-large', part(3, 3), 3, 200 * mebibyte + 1],
  ])('is refused: %s', (code, range, total, size) => {
    expect(codeOf(() => checkChunkSize(range, total, size))).toBe(code);
  });
});
