import { describe, expect, it } from 'vitest';
import {
  chunkBytesFor,
  countSentBytes,
  fileRefusal,
  missingChunks,
} from '../../../../../src/web/dashboard/uploads/chunks.ts';

describe('missingChunks', () => {
  it.each([
    ['nothing was sent', [], ['0-9', '10-19', '20-24']],
    ['the first chunk is there', [[0, 9]], ['10-19', '20-24']],
    ['a chunk in the middle is there', [[10, 19]], ['0-9', '20-24']],
    [
      'chunks came in any order, and some twice',
      [
        [20, 24],
        [0, 9],
        [0, 9],
      ],
      ['10-19'],
    ],
    ['another client sent a part of the beginning', [[0, 12]], ['13-22', '23-24']],
    ['all is there', [[0, 24]], []],
  ])('%s', (_, received, expected) => {
    const ranges = (received as [number, number][]).map(([from, to]) => ({ from, to }));
    const missing = missingChunks(25, 10, ranges);
    expect(missing.map(({ from, to }) => `${from}-${to}`)).toEqual(expected);
  });

  it('is counted against what was sent', () => {
    expect(countSentBytes(25, missingChunks(25, 10, [{ from: 10, to: 19 }]))).toBe(10);
    expect(countSentBytes(25, [])).toBe(25);
  });
});

describe('files', () => {
  it('are sent in chunks of sizes that the server takes', () => {
    for (const bytes of [1, 1e9, 9e9]) {
      expect(chunkBytesFor(bytes)).toBeGreaterThanOrEqual(5 * 1024 ** 2);
      expect(chunkBytesFor(bytes)).toBeLessThanOrEqual(200 * 1024 ** 2);
    }
  });

  it('are refused before they are sent where the server would', () => {
    expect(fileRefusal(0)).toBe('The file is empty.');
    expect(fileRefusal(1)).toBeUndefined();
    expect(fileRefusal(9_999_999_999)).toBeUndefined();
    expect(fileRefusal(10_000_000_000)).toContain('too large');
  });
});
