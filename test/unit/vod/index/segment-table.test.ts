import { describe, expect, test } from 'vitest';
import { decodeRecord, encodeRecord, SliceList } from '../../../../src/vod/index/segment-record.ts';
import { SegmentTable } from '../../../../src/vod/index/segment-table.ts';

function tableOf(segments: readonly (readonly [seconds: number, bytes: number])[]): SegmentTable {
  const table = new SegmentTable(1);
  for (const [seconds, bytes] of segments) {
    table.push({ durationTicks: seconds * 1000, bytes, recordBytes: 10, recordCheck: 1 });
  }
  return table;
}

describe('bit rates', () => {
  const cases: readonly (readonly [string, (readonly [number, number])[], number, number, number])[] = [
    ['of no segment are 0', [], 4, 0, 0],
    ['of one segment are its own', [[4, 500_000]], 4, 1_000_000, 1_000_000],
    [
      'peak with the largest segment',
      [
        [4, 100_000],
        [4, 500_000],
        [4, 300_000],
      ],
      4,
      1_000_000,
      600_000,
    ],
    // 0.5 s alone is shorter than half a target duration; with its neighbours it is not.
    [
      'do not peak with a short one alone',
      [
        [4, 400_000],
        [0.5, 200_000],
      ],
      4,
      1_066_667,
      1_066_667,
    ],
    ['take what is short where there is nothing else', [[0.5, 100_000]], 4, 1_600_000, 1_600_000],
    ['are rounded up', [[3, 1]], 4, 3, 3],
  ];
  test.each(cases)('%s', (_, segments, target, peak, average) => {
    expect(tableOf(segments).bitRates(1000, target)).toEqual({
      peakBitsPerSecond: peak,
      averageBitsPerSecond: average,
    });
  });
});

test('a table is read as it was stored', () => {
  const table = tableOf(Array.from({ length: 100 }, (_, index) => [4 + index, 1000 + index] as const));
  const read = SegmentTable.fromBytes(table.toBytes());
  expect(read.length).toBe(100);
  expect(read.row(99)).toEqual(table.row(99));
  expect(read.row(1)).toMatchObject({ startTicks: 4000, recordStart: 10, durationTicks: 5000, bytes: 1001 });
  expect([read.bytes, read.durationTicks, read.maxDurationTicks]).toEqual([
    table.bytes,
    table.durationTicks,
    103_000,
  ]);
});

test('a table takes no number that it cannot hold', () => {
  const row = { durationTicks: 1, bytes: 1, recordBytes: 1, recordCheck: 0 };
  for (const name of ['durationTicks', 'bytes', 'recordBytes']) {
    expect(() => new SegmentTable().push({ ...row, [name]: 2 ** 32 })).toThrow(
      expect.objectContaining({ code: 'media-malformed' }),
    );
  }
});

describe('a record', () => {
  const lists: readonly (readonly [string, (readonly [number, number])[], number])[] = [
    ['of nothing', [], 0],
    ['of one slice', [[1_000_000, 5]], 1],
    [
      'of neighbours, which become one',
      [
        [100, 20],
        [120, 30],
        [150, 1],
      ],
      1,
    ],
    [
      'that goes back and far ahead',
      [
        [5000, 10],
        [40, 10],
        [2 ** 45, 4_000_000_000],
        [0, 1],
      ],
      4,
    ],
  ];
  test.each(lists)('%s is read as it was written', (_, slices, count) => {
    const list = new SliceList();
    for (const [start, length] of slices) list.push(start, length);
    expect(list.length).toBe(count);
    const record = encodeRecord(Buffer.from('head'), list);
    const { parts, bytes } = decodeRecord(record, { path: 'file', bytes: 2 ** 46 });
    expect(parts).toEqual([
      Buffer.from('head'),
      ...[...list].map(({ start, length }) => ({ path: 'file', start, length })),
    ]);
    expect(bytes).toBe(4 + slices.reduce((sum, [, length]) => sum + length, 0));
  });

  test('that reaches beyond the media file is damaged', () => {
    const list = new SliceList();
    list.push(10, 11);
    const record = encodeRecord(Buffer.alloc(0), list);
    expect(() => decodeRecord(record, { path: 'file', bytes: 20 })).toThrow(
      expect.objectContaining({ code: 'server-error' }),
    );
    expect(decodeRecord(record, { path: 'file', bytes: 21 }).bytes).toBe(11);
  });
});
