import { expect, test } from 'vitest';
import { findOpenEndedEdits } from '../../../../src/media/cmaf/open-ended-edits.ts';

const u32 = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, 4 * index);
  return bytes;
};
const box = (type: string, ...bodies: Buffer[]) => {
  const body = Buffer.concat(bodies);
  return Buffer.concat([u32(8 + body.length), Buffer.from(type), body]);
};
const noOffsets = Buffer.alloc(0);

/** A movie of 1000 ticks a second with a track of 10 s at 25,000. @param edits durations and media times */
function movieOf(
  edits: readonly (readonly [number, number])[],
  offsets = noOffsets,
  more = noOffsets,
): Buffer {
  const elst = box('elst', u32(0, edits.length, ...edits.flatMap(([ticks, at]) => [ticks, at, 0x10000])));
  const stbl = box('minf', box('stbl', offsets));
  const mdia = box('mdia', box('mdhd', u32(0, 0, 0, 25_000, 250_000)), stbl);
  const trak = box('trak', box('edts', elst), mdia);
  return Buffer.concat([box('ftyp'), box('moov', box('mvhd', u32(0, 0, 0, 1000, 0)), trak, more)]);
}

async function found(file: Buffer) {
  const patches = await findOpenEndedEdits(async (at, length) => file.subarray(at, at + length), file.length);
  return patches.map(({ position, bytes }) => [position - file.indexOf('elst') - 4, bytes.readUInt32BE()]);
}

const start = 8;
const entry = 12;

test.each<[string, readonly (readonly [number, number])[], number[][]]>([
  ['one, from the beginning', [[0, 0]], [[start, 10_000]]],
  ['one, from the middle', [[0, 85_000]], [[start, 6_600]]],
  [
    'one after an empty edit',
    [
      [500, -1],
      [0, 85_000],
    ],
    [[start + entry, 6_600]],
  ],
  [
    'the last of two',
    [
      [2000, 0],
      [0, 85_000],
    ],
    [[start + entry, 6_600]],
  ],
  ['none that has a duration', [[2000, 85_000]], []],
  [
    'none before another',
    [
      [0, 85_000],
      [2000, 0],
    ],
    [],
  ],
  ['none behind the end', [[0, 250_000]], []],
  ['none that is empty', [[0, -1]], []],
])('finds %s', async (_, edits, patches) => {
  expect(await found(movieOf(edits))).toEqual(patches);
});

test('includes the frames that are shown after the decoding of the last one', async () => {
  const offsets = box('ctts', u32(0, 1, 250, 2_000));
  expect(await found(movieOf([[0, 85_000]], offsets))).toEqual([[start, 6_680]]);
});

test('leaves fragmented and damaged files alone', async () => {
  expect(await found(movieOf([[0, 85_000]], noOffsets, box('mvex')))).toEqual([]);
  const file = movieOf([[0, 85_000]]);
  for (let length = 0; length < file.length; length += 1) await found(file.subarray(0, length));
  for (const at of file.keys()) await found(Buffer.from(file.with(at, 0xff)));
});
