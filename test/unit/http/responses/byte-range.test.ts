import { describe, expect, it } from 'vitest';
import { parseByteRange } from '../../../../src/http/responses/byte-range.ts';

describe('parseByteRange', () => {
  it.each([
    ['bytes=0-0', { start: 0, end: 1 }],
    ['bytes=10-19', { start: 10, end: 20 }],
    ['bytes=95-', { start: 95, end: 100 }],
    ['bytes=-7', { start: 93, end: 100 }],
    ['bytes=-700', { start: 0, end: 100 }],
    ['bytes=90-4000', { start: 90, end: 100 }],
    ['Bytes= 1-2', { start: 1, end: 3 }],
    ['bytes=100-', 'unsatisfiable'],
    ['bytes=200-300', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    ['bytes=5-4', 'whole'],
    ['bytes=-', 'whole'],
    ['bytes=0-1,4-5', 'whole'],
    ['seconds=0-1', 'whole'],
    ['bytes=a-b', 'whole'],
    ['bytes=0x1-2', 'whole'],
    [`bytes=${'9'.repeat(40)}-`, 'whole'],
    ['', 'whole'],
  ])('reads %s of 100 bytes', (header, expected) => {
    expect(parseByteRange(header, 100)).toEqual(expected);
  });
});
