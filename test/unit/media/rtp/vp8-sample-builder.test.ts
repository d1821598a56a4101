import { describe, expect, test } from 'vitest';
import { Vp8SampleBuilder } from '../../../../src/media/rtp/vp8-sample-builder.ts';
import { Random } from '../../../support/random.ts';

/** A frame whose first partition has 4 bytes, of 8 in all. */
const partitions = Buffer.from('0011223344556677', 'hex');
const start = Buffer.from([0x10]);
const next = Buffer.from([0x00]);

function keyframe(width: number, height: number, tag = 0x90): Buffer {
  const header = Buffer.from([tag, 0, 0, 0x9d, 0x01, 0x2a, 0, 0, 0, 0]);
  header.writeUInt16LE(width, 6);
  header.writeUInt16LE(height, 8);
  return Buffer.concat([header, partitions]);
}

const key = keyframe(640, 360);
const frame = Buffer.concat([Buffer.from([0x91, 0, 0]), partitions]);
const whole = (data: Buffer, descriptor = start) => [Buffer.concat([descriptor, data])];

test('keyframes bring a configuration where the size is new, whatever it is scaled to', () => {
  const builder = new Vp8SampleBuilder();
  expect(builder.build(whole(key))).toEqual({
    record: Buffer.from('9d012a80026801', 'hex'),
    data: key,
    isKeyframe: true,
  });
  expect(builder.build(whole(frame))).toEqual({ record: undefined, data: frame, isKeyframe: false });
  const scaled = keyframe(640 | 0x4000, 360 | 0xc000);
  expect(builder.build(whole(scaled))).toEqual({ record: undefined, data: scaled, isKeyframe: true });
  const smaller = keyframe(320, 180);
  expect(builder.build(whole(smaller))?.record).toEqual(Buffer.from('9d012a4001b400', 'hex'));
  expect(builder.build(whole(keyframe(16_383, 16_383)))?.record?.toString('hex')).toBe('9d012aff3fff3f');
});

test('a frame may come in several packets, and its partitions too', () => {
  const builder = new Vp8SampleBuilder();
  const pieces = [
    Buffer.concat([start, key.subarray(0, 5)]),
    Buffer.concat([next, key.subarray(5, 12)]),
    // The second partition.
    Buffer.concat([Buffer.from([0x11]), key.subarray(12, 14)]),
    Buffer.concat([Buffer.from([0x01]), key.subarray(14)]),
  ];
  expect(builder.build(pieces)?.data).toEqual(key);
});

describe('descriptors', () => {
  test.each([
    ['a frame that no other refers to', '30'],
    ['an extension without fields', '9000'],
    ['a short picture ID', '90807f'],
    ['a long picture ID', '9080ffff'],
    ['a layer index', '9040ff'],
    ['a temporal layer', '9020ff'],
    ['a keyframe index', '9010ff'],
    ['everything that Chromium sends', '90e0801200a0'],
    ['all fields', '90f0800112ff'],
    ['reserved bits', '58'],
  ])('with %s', (_, descriptor) => {
    expect(new Vp8SampleBuilder().build(whole(key, Buffer.from(descriptor, 'hex')))?.data).toEqual(key);
  });

  test.each([
    ['nothing', ''],
    ['a descriptor alone', '10'],
    ['an extension that is cut off', '90'],
    ['a picture ID that is cut off', '9080'],
    ['a long picture ID that is cut off', '9080ff'],
    ['no room for all fields', '90f0800112'],
    ['fields alone', '90f0800112ff'],
  ])('%s', (_, hex) => {
    const builder = new Vp8SampleBuilder();
    builder.build(whole(key));
    expect(builder.build([Buffer.from(hex, 'hex')])).toBeUndefined();
  });
});

test.each<[string, readonly Buffer[]]>([
  ['without its start', [Buffer.concat([next, key])]],
  ['that starts with a later partition', [Buffer.concat([Buffer.from([0x11]), key])]],
  ['that starts twice', [...whole(key), ...whole(key)]],
  [
    'whose packets are in the wrong order',
    [Buffer.concat([next, key.subarray(9)]), ...whole(key.subarray(0, 9))],
  ],
  ['of a few bytes', whole(Buffer.from([0x90, 0, 0]))],
  ['whose first partition is longer than it', whole(key.subarray(0, 13))],
  ['whose first partition is empty', whole(keyframe(640, 360, 0x10))],
  ['of a version that does not exist', whole(keyframe(640, 360, 0x98))],
  ['with another start code', whole(Buffer.concat([key.subarray(0, 3), Buffer.alloc(15)]))],
  ['without a width', whole(keyframe(0, 360))],
  ['with nothing but scaling as its height', whole(keyframe(640, 0xc000))],
  ['of H.264', whole(Buffer.from('6588840a1122334455', 'hex'), Buffer.alloc(0))],
])('a frame %s is refused', (_, payloads) => {
  const builder = new Vp8SampleBuilder();
  builder.build(whole(key));
  expect(builder.build(payloads)).toBeUndefined();
});

test('frames before the first keyframe are refused', () => {
  expect(new Vp8SampleBuilder().build(whole(frame))).toBeUndefined();
});

test('random payloads do no harm', () => {
  const random = new Random(29);
  const builder = new Vp8SampleBuilder();
  for (let round = 0; round < 5_000; round++) {
    const payloads = Array.from({ length: random.below(4) }, () => random.bytes(random.below(40)));
    const sample = builder.build(payloads);
    if (sample === undefined) continue;
    expect(sample.data.length).toBeLessThan(payloads.reduce((sum, { length }) => sum + length, 0));
  }
});
