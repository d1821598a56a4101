import { expect, test } from 'vitest';
import { findNegativeTicks, shiftTimes } from '../../../../src/media/matroska/shift-times.ts';
import { TimeSlice } from '../../../../src/shared/scheduling/time-slice.ts';

const slice = new TimeSlice(Number.POSITIVE_INFINITY);

function element(id: number[], body: readonly number[], isUnknown = false): number[] {
  const size = isUnknown ? [0x01, ...Array(7).fill(0xff)] : [0x40 | (body.length >> 8), body.length & 0xff];
  return [...id, ...size, ...body];
}

function block(ticks: number, isInGroup = false): number[] {
  const body = [0x81, (ticks >> 8) & 0xff, ticks & 0xff, 0, 1, 2, 3];
  return isInGroup ? element([0xa0], [...element([0xa1], body), 0x9b, 0x81, 40]) : element([0xa3], body);
}

interface MadeCluster {
  readonly ticks: number[];
  readonly blocks: number[][];
  readonly isUnknown?: boolean;
}

function fileOf(clusters: readonly MadeCluster[], last: number[] = []): Buffer {
  const body = clusters.flatMap(({ ticks, blocks, isUnknown }) =>
    element([0x1f, 0x43, 0xb6, 0x75], [...element([0xe7], ticks), ...blocks.flat()], isUnknown),
  );
  const cues = element(
    [0x1c, 0x53, 0xbb, 0x6b],
    element([0xbb], [...element([0xb3], [0, 5]), 0xb7, 0x81, 1]),
  );
  return Buffer.from([
    ...element([0x1a, 0x45, 0xdf, 0xa3], [0x42, 0x86, 0x81, 1]),
    ...element([0x18, 0x53, 0x80, 0x67], [...body, ...cues, ...last], true),
  ]);
}

function readerOf(file: Buffer) {
  return async (position: number, length: number) => file.subarray(position, position + length);
}

async function shifted(file: Buffer, ticks: number) {
  const copy = Buffer.from(file);
  const patches = shiftTimes(readerOf(file), ticks, slice);
  for (;;) {
    const { done, value } = await patches.next();
    if (done === true) return { result: value, file: copy };
    value.bytes.copy(copy, value.position);
  }
}

const file = fileOf([
  { ticks: [0], blocks: [block(-300), block(-260, true), block(100)] },
  { ticks: [200], blocks: [block(-40), block(0)], isUnknown: true },
  { ticks: [0x10, 0], blocks: [block(0, true)] },
  { ticks: [], blocks: [block(3)] },
]);

test('finds the earliest time', async () => {
  expect(await findNegativeTicks(readerOf(file), slice)).toBe(-300);
});

test('finds nothing where blocks are before their cluster only', async () => {
  const later = fileOf([{ ticks: [40], blocks: [block(-40), block(0)] }]);
  expect(await findNegativeTicks(readerOf(later), slice)).toBe(0);
});

test('adds to blocks what the bytes of a cluster have no room for', async () => {
  const { result, file: moved } = await shifted(file, 300);
  expect(result).toBe('done');
  const expected = fileOf([
    { ticks: [255], blocks: [block(-255), block(-215, true), block(145)] },
    { ticks: [255], blocks: [block(205), block(245)], isUnknown: true },
    { ticks: [0x11, 0x2c], blocks: [block(0, true)] },
    { ticks: [], blocks: [block(303)] },
  ]);
  // The time of the cue.
  expected.writeUInt16BE(305, expected.length - 5);
  expect(moved.toString('hex')).toBe(expected.toString('hex'));
});

test('says that a block has no room', async () => {
  const full = fileOf([{ ticks: [0], blocks: [block(-1000), block(32_600)] }]);
  expect((await shifted(full, 1000)).result).toBe('no-room');
});

test.each([
  ['another format', Buffer.from('not Matroska at all')],
  ['nothing', Buffer.alloc(0)],
  ['an element without an end', fileOf([], [0xec, 0xff])],
  ['a truncated block', fileOf([], [0xa3, 0x87, 0x81])],
])('finds nothing in %s', async (_, bytes) => {
  expect(await findNegativeTicks(readerOf(bytes), slice)).toBe(0);
});
