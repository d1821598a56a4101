import { expect, test } from 'vitest';
import { Av1SampleBuilder } from '../../../../src/media/rtp/av1-sample-builder.ts';
import { Random } from '../../../support/random.ts';

/** Sequence header of 640x360 by SVT-AV1, and the av1C that ffmpeg writes for it. */
const sequence = Buffer.from('0a0b0000000cc4ff6700be0010', 'hex');
const record = '81010c000a0b0000000cc4ff6700be0010';
const key = Buffer.from([0x30, 0x10, 0xaa, 0xbb]);
const sized = (header: number, rest: Buffer) => Buffer.concat([Buffer.from([header | 2, rest.length]), rest]);

test('a keyframe becomes a sample with sizes, and a configuration', () => {
  const withoutSize = Buffer.concat([Buffer.from([0x08]), sequence.subarray(2)]);
  const payload = Buffer.concat([Buffer.from([0x28, withoutSize.length]), withoutSize, key]);
  const sample = new Av1SampleBuilder().build([payload])!;
  expect(sample.isKeyframe).toBe(true);
  expect(sample.data).toEqual(Buffer.concat([sequence, sized(0x30, key.subarray(1))]));
  expect(sample.record?.toString('hex')).toBe(record);
});

test('an OBU may come in several packets', () => {
  const builder = new Av1SampleBuilder();
  const first = Buffer.concat([Buffer.from([0x68, sequence.length]), sequence, key.subarray(0, 2)]);
  const sample = builder.build([first, Buffer.concat([Buffer.from([0x90]), key.subarray(2)])])!;
  expect(sample.data).toEqual(Buffer.concat([sequence, sized(0x30, key.subarray(1))]));
  // The configuration is the same, and comes once.
  expect(builder.build([Buffer.concat([Buffer.from([0x28, sequence.length]), sequence, key])])).toMatchObject(
    {
      record: undefined,
      isKeyframe: true,
    },
  );
  expect(builder.build([Buffer.from([0x10, 0x30, 0x30, 1])])).toMatchObject({ isKeyframe: false });
});

test.each([
  ['an end without its start', ['90aabb']],
  ['a start without its end', ['50300011']],
  ['an element that is too short', ['00093000']],
])('%s is refused', (_, payloads) => {
  expect(new Av1SampleBuilder().build(payloads.map(each => Buffer.from(each, 'hex')))).toBeUndefined();
});

test('random payloads do no harm', () => {
  const random = new Random(19);
  const builder = new Av1SampleBuilder();
  for (let round = 0; round < 5_000; round++) {
    builder.build(Array.from({ length: random.below(4) }, () => random.bytes(random.below(40))));
  }
});
