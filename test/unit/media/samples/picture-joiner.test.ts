import { describe, expect, test } from 'vitest';
import { joinWithLengths } from '../../../../src/media/codecs/nal-units.ts';
import type { MediaEvent, MediaSample } from '../../../../src/media/samples/media-sample.ts';
import { PictureJoiner } from '../../../../src/media/samples/picture-joiner.ts';
import { samples } from '../../../support/media-samples.ts';

const units = {
  avc1: {
    first: Buffer.from([0x41, 0x80, 1]),
    further: Buffer.from([0x41, 0x40, 2]),
    keyFirst: Buffer.from([0x65, 0x88, 3]),
    keyFurther: Buffer.from([0x65, 0x20, 4]),
    sets: [Buffer.from([0x67, 0x42, 0, 30]), Buffer.from([0x68, 0xce])],
    sei: Buffer.from([0x06, 5, 1, 0]),
    delimiter: Buffer.from([0x09, 0xf0]),
    end: Buffer.from([0x0a]),
  },
  hvc1: {
    first: Buffer.from([0x02, 1, 0x80, 1]),
    further: Buffer.from([0x02, 1, 0x40, 2]),
    keyFirst: Buffer.from([0x26, 1, 0xa0, 3]),
    keyFurther: Buffer.from([0x26, 1, 0x20, 4]),
    sets: [Buffer.from([0x40, 1, 12]), Buffer.from([0x42, 1, 1]), Buffer.from([0x44, 1, 2])],
    sei: Buffer.from([0x4e, 1, 5, 0]),
    delimiter: Buffer.from([0x46, 1, 0x50]),
    end: Buffer.from([0x48, 1]),
  },
} as const;
/** Length fields of 4 bytes. */
const records = { avc1: Buffer.from([1, 66, 0, 30, 0xff, 0xe0, 0]), hvc1: Buffer.alloc(23, 0xff) } as const;
const audioAt = (dtsMs: number) => samples.audio('mp4a', { dtsMs, data: Buffer.of(1) });

describe.each(['avc1', 'hvc1'] as const)('%s', codec => {
  const { first, further, keyFirst, keyFurther, sets, sei, delimiter, end } = units[codec];
  const config = samples.videoConfig(codec, records[codec]);
  const tag = (dtsMs: number, unitsOf: readonly Buffer[], more: { readonly isKeyframe?: boolean } = {}) =>
    samples.video(codec, { dtsMs, data: joinWithLengths(unitsOf), ...more });
  const key = (dtsMs: number, unitsOf: readonly Buffer[]) => tag(dtsMs, unitsOf, { isKeyframe: true });

  test('joins slices, and what comes before and behind them, of one picture', () => {
    expect(
      joined([
        config,
        ...[key(0, [delimiter]), key(0, [...sets]), key(0, [sei]), key(0, [keyFirst])],
        ...[key(0, [keyFurther]), key(0, [keyFurther, keyFurther])],
        ...[tag(40, [delimiter, first]), tag(40, [further]), tag(40, [end])],
        ...[tag(80, [first]), tag(80, [sei, further]), tag(120, [first])],
      ]),
    ).toEqual([
      config,
      key(0, [delimiter, ...sets, sei, keyFirst, keyFurther, keyFurther, keyFurther]),
      tag(40, [delimiter, first, further, end]),
      tag(80, [first, sei, further]),
      tag(120, [first]),
    ]);
  });

  test('a first slice at the same time starts a picture', () => {
    const pictures = [[keyFirst, keyFurther], [first, further], [first]];
    const sent = pictures.flat().map(unit => tag(0, [unit]));
    expect(joined([config, ...sent])).toEqual([config, ...pictures.map(each => tag(0, each))]);
  });

  test('parameter sets with another time belong to the picture behind them', () => {
    expect(
      joined([config, key(0, [keyFirst]), tag(40, [first]), key(79, [...sets]), key(80, [keyFirst])]),
    ).toEqual([config, key(0, [keyFirst]), tag(40, [first]), key(80, [...sets, keyFirst])]);
  });

  test('parameter sets that are marked as a keyframe mark the picture', () => {
    expect(joined([config, key(0, [...sets]), tag(0, [keyFirst])])).toEqual([
      config,
      key(0, [...sets, keyFirst]),
    ]);
  });

  test('pictures in one tag each are passed on at once, the first one with the second', () => {
    const received: MediaEvent[] = [];
    const joiner = new PictureJoiner(each => received.push(each));
    const pictures = [
      [sei, keyFirst, keyFurther],
      [first, further],
      [first, further],
    ].map((each, index) => tag(index * 40, each));
    joiner.push(config);
    joiner.push(pictures[0]!);
    expect(received).toEqual([config]);
    joiner.push(pictures[1]!);
    expect(received).toEqual([config, ...pictures.slice(0, 2)]);
    joiner.push(pictures[2]!);
    expect(received).toEqual([config, ...pictures]);
  });

  test('a first picture does not wait for a second one while audio continues', () => {
    const sent = [config, tag(0, [keyFirst]), audioAt(100), audioAt(201), tag(6000, [first])];
    const received: MediaEvent[] = [];
    const joiner = new PictureJoiner(each => received.push(each));
    for (const each of sent) joiner.push(each);
    expect(received).toEqual([config, audioAt(100), tag(0, [keyFirst]), audioAt(201), tag(6000, [first])]);
  });

  test('slices of later pictures are found, too', () => {
    const sent = [key(0, [keyFirst]), tag(40, [first]), tag(80, [first]), tag(80, [further])];
    const later = [tag(120, [first]), tag(120, [further]), tag(160, [first])];
    expect(joined([config, ...sent, ...later])).toEqual([
      ...[config, ...sent.slice(0, 3)],
      ...[tag(120, [first, further]), tag(160, [first])],
    ]);
  });

  test('joins times that wrap, and tags whose composition times are left out', () => {
    const last = 2 ** 32 - 40;
    expect(
      joined([config, key(last, [keyFirst]), key(last, [keyFurther]), tag(0, [first]), tag(0, [further])]),
    ).toEqual([config, key(last, [keyFirst, keyFurther]), tag(0, [first, further])]);
  });

  test('memory is bounded', () => {
    const long = Buffer.concat([further, Buffer.alloc(1024 * 1024)]);
    const [, picture] = joined([
      config,
      key(0, [keyFirst]),
      ...Array.from({ length: 40 }, () => tag(0, [long])),
    ]);
    expect((picture as MediaSample).data.length).toBeLessThanOrEqual(17 * 1024 * 1024);
  });
});

test('both fields of an interlaced picture are one', () => {
  // A sequence parameter set without frame_mbs_only_flag, and slices with field_pic_flag.
  const sps = Buffer.from([0x67, 66, 0, 30, 0b11110110, 0b00010100, 0b10001000, 0b01100000]);
  const record = Buffer.concat([
    Buffer.from([1, 66, 0, 30, 0xff, 0xe1, 0, sps.length]),
    sps,
    Buffer.from([0]),
  ]);
  const config = samples.videoConfig('avc1', record);
  const field = (isBottom: boolean, frameNumber: number) => {
    // first_mb_in_slice, slice_type, pic_parameter_set_id, frame_num (4 bits), field_pic_flag, bottom_field_flag.
    const bits = `111${frameNumber.toString(2).padStart(4, '0')}1${isBottom ? 1 : 0}1000000`;
    return Buffer.from([0x41, Number.parseInt(bits.slice(0, 8), 2), Number.parseInt(bits.slice(8, 16), 2)]);
  };
  const tag = (dtsMs: number, ...data: Buffer[]) =>
    samples.video('avc1', { dtsMs, data: joinWithLengths(data) });
  const sent = [0, 1].flatMap(frame => [
    tag(frame * 40, field(false, frame)),
    tag(frame * 40, field(true, frame)),
  ]);
  expect(joined([config, ...sent])).toEqual([
    config,
    tag(0, field(false, 0), field(true, 0)),
    tag(40, field(false, 1), field(true, 1)),
  ]);
});

test('slices beyond what a picture may have end it, so that they are not read again and again', () => {
  const { first, further } = units.hvc1;
  const received: MediaEvent[] = [];
  const joiner = new PictureJoiner(event => received.push(event));
  const large = Buffer.concat([further, Buffer.alloc(9 * 1024 ** 2)]);
  joiner.push(samples.videoConfig('hvc1', records.hvc1));
  for (const unit of [first, large]) {
    joiner.push(samples.video('hvc1', { dtsMs: 0, data: joinWithLengths([unit]) }));
  }
  expect(received).toHaveLength(1);
  joiner.push(samples.video('hvc1', { dtsMs: 0, data: joinWithLengths([large]) }));
  expect(received).toHaveLength(2);
});

test('what it cannot read is passed on unchanged', () => {
  const config = samples.videoConfig('avc1', records.avc1);
  const tags = [Buffer.from([1, 2, 3]), Buffer.alloc(0), Buffer.from([0xff, 0xff, 0xff, 0xff, 0x41])].map(
    data => samples.video('avc1', { dtsMs: 5, data }),
  );
  const av1 = samples.video('av01', { dtsMs: 7, data: Buffer.from([0x12, 0]) });
  const script = { type: 'declared', media: { hasAudio: true, hasVideo: true } } as const;
  expect(joined([...tags, config, ...tags, script, av1, av1])).toEqual([
    ...[...tags, config, ...tags, script, av1, av1],
  ]);
});

function joined(tags: readonly MediaEvent[]): MediaEvent[] {
  const received: MediaEvent[] = [];
  const joiner = new PictureJoiner(tag => received.push(tag));
  for (const tag of tags) joiner.push(tag);
  joiner.flush();
  return received;
}
