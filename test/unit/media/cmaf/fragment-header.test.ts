import { describe, expect, test } from 'vitest';
import { SampleColumns, writeFragmentHeader } from '../../../../src/media/cmaf/fragment-header.ts';
import { writeFragment } from '../../../../src/media/cmaf/fragment-writer.ts';
import { parseInitSegment, writeInitSegment } from '../../../../src/media/cmaf/init-segment.ts';
import { fixture, readAll, splitInit } from './read-all.ts';

const track = { ...parseInitSegment(splitInit(fixture('h264-5')).init)[0]!, id: 1 };

interface Row {
  readonly durationTicks: number;
  readonly data: Buffer;
  readonly compositionOffsetTicks: number;
  readonly isSync: boolean;
}

function row(changes: Partial<Row> = {}): Row {
  return {
    durationTicks: 512,
    data: Buffer.alloc(10, 7),
    compositionOffsetTicks: 0,
    isSync: false,
    ...changes,
  };
}

const tables: readonly (readonly [string, readonly Row[]])[] = [
  ['one sample', [row({ isSync: true })]],
  ['a keyframe and others', [row({ isSync: true }), row(), row()]],
  ['keyframes alone', [row({ isSync: true }), row({ isSync: true })]],
  ['no keyframe', [row(), row()]],
  ['keyframes here and there', [row(), row({ isSync: true }), row(), row({ isSync: true })]],
  ['different sizes', [row({ isSync: true }), row({ data: Buffer.alloc(300, 1) })]],
  ['different durations', [row({ isSync: true }), row({ durationTicks: 2 ** 31 })]],
  ['offsets below 0', [row({ compositionOffsetTicks: 1024 }), row({ compositionOffsetTicks: -2048 })]],
  [
    'more samples than there was room for',
    Array.from({ length: 1000 }, (_, index) => row({ durationTicks: index + 1 })),
  ],
];

describe('the head of a fragment', () => {
  test.each(tables)('describes %s like a whole fragment', (_, rows) => {
    const columns = new SampleColumns();
    for (const { durationTicks, data, compositionOffsetTicks, isSync } of rows) {
      columns.push(durationTicks, data.length, compositionOffsetTicks, isSync);
    }
    const baseDtsTicks = 2 ** 40 + 5;
    const head = writeFragmentHeader(9, baseDtsTicks, columns);
    const init = writeInitSegment([track]);
    const read = readAll(Buffer.concat([init, head, ...rows.map(({ data }) => data)]));
    const whole = writeFragment(9, [{ trackId: 1, baseDtsTicks, samples: rows }]);
    expect(read.samples).toEqual(readAll(Buffer.concat([init, whole])).samples);
    expect(head.length).toBeLessThanOrEqual(whole.length - columns.dataBytes + 4);
  });

  test('starts over when its samples are cleared', () => {
    const columns = new SampleColumns();
    columns.push(1, 1, 1, true);
    columns.clear();
    columns.push(512, 10, 0, true);
    columns.extendLast(8);
    expect([columns.length, columns.dataBytes]).toEqual([1, 10]);
    expect([...columns.columns.durations]).toEqual([520]);
  });

  test('is refused for more than an mdat with a short header can hold', () => {
    const columns = new SampleColumns();
    columns.push(1, 2 ** 32 - 1, 0, true);
    expect(() => writeFragmentHeader(1, 0, columns)).toThrow(
      expect.objectContaining({ code: 'media-malformed' }),
    );
  });
});

test('a fragment holds only as many samples as its readers accept', () => {
  const samples = new SampleColumns();
  for (let count = 0; count < 65_536; count++) samples.push(1, 1, 0, true);
  expect(() => samples.push(1, 1, 0, true)).toThrow('more than 65536 samples in a fragment');
});
