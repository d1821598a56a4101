import { describe, expect, test } from 'vitest';
import { formatBytes } from '../../../../../src/web/dashboard/format/size.ts';

describe('a size', () => {
  test.each([
    [0, '0 bytes'],
    [1, '1 byte'],
    [999, '999 bytes'],
    [1_000, '1 KB'],
    [470_400, '470 KB'],
    [999_600, '1 MB'],
    [10_420_000, '10.4 MB'],
    [515_000_000_000, '515 GB'],
    [2_500_000_000_000_000_000, '2,500 PB'],
  ])('%d', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});
