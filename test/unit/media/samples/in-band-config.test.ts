import { describe, expect, test } from 'vitest';
import { avcConfigRecord, hevcConfigRecord } from '../../../../src/media/codecs/config-record.ts';
import { joinWithLengths } from '../../../../src/media/codecs/nal-units.ts';
import { InBandConfig } from '../../../../src/media/samples/in-band-config.ts';
import type { CodecConfig, MediaSample } from '../../../../src/media/samples/media-sample.ts';
import { samples } from '../../../support/media-samples.ts';

const avc = {
  wide: ['67640015acd94141fb0110000003001000000303c8f162d960', '68ebe3cb22c0'].map(hex),
  high: ['6742c01eda0282f684000003000400000300781e2c5c90', '68ce3c80'].map(hex),
};
const sequence = '42010101600000030090000003000003005da0028080241f265999a4932bffc0d5c0d640400000fa4000ea6002';
const hevc = {
  wide: ['40010c01ffff01600000030090000003000003005dba0240', sequence, '4401c172b46240'].map(hex),
  high: ['40010c01ffff01600000030090000003000003005dba0240', `${sequence}80`, '4401c172b46241'].map(hex),
};

describe.each([
  ['avc1', avc, (sets: Buffer[]) => avcConfigRecord([sets[0]!], [sets[1]!], [])!, hex('658880')],
  ['hvc1', hevc, (sets: Buffer[]) => hevcConfigRecord([sets[0]!], [sets[1]!], [sets[2]!])!, hex('2601af80')],
] as const)('%s', (codec, { wide, high }, recordOf, slice) => {
  const config = (sets: readonly Buffer[]) => samples.videoConfig(codec, recordOf([...sets]));
  const frame = (dtsMs: number, units: readonly Buffer[], isKeyframe = true) =>
    samples.video(codec, { dtsMs, isKeyframe, data: joinWithLengths([...units, slice]) });
  const sent = (tags: readonly (MediaSample | CodecConfig)[]) => {
    const inBand = new InBandConfig();
    return tags.flatMap(tag => inBand.take(tag));
  };

  test('passes on tags whose parameter sets are those of the configuration', () => {
    const zeros = wide.map(unit => Buffer.concat([unit, Buffer.alloc(2)]));
    const tags = [
      config(wide),
      frame(0, []),
      frame(40, wide),
      frame(80, zeros),
      frame(120, [], false),
      config(wide),
    ];
    expect(sent(tags)).toEqual(tags);
  });

  test('adds a configuration before the frame with new ones, once', () => {
    expect(sent([config(wide), frame(0, wide), frame(40, high), frame(80, high)])).toEqual([
      ...[config(wide), frame(0, wide), config(high), frame(40, high), frame(80, high)],
    ]);
  });

  test('a configuration that is only repeated does not replace that of frames', () => {
    const tags = [config(wide), frame(0, high), config(wide), frame(40, high), config(wide), frame(80, high)];
    expect(sent(tags)).toEqual([
      ...[config(wide), config(high), frame(0, high), frame(40, high), frame(80, high)],
    ]);
  });

  test('a configuration that is repeated before a keyframe without parameter sets applies', () => {
    const tags = [config(wide), frame(0, high), config(wide), frame(40, [], false), frame(80, [])];
    expect(sent(tags)).toEqual([
      ...[config(wide), config(high), frame(0, high), frame(40, [], false), config(wide), frame(80, [])],
    ]);
  });

  test('makes a configuration for an encoder that sends none', () => {
    expect(sent([frame(0, wide), frame(40, [], false)])).toEqual([
      ...[config(wide), frame(0, wide), frame(40, [], false)],
    ]);
  });
});

test('keeps the length fields of the frames', () => {
  const [first, second] = [avc.wide, avc.high];
  const record = avcConfigRecord([first![0]!], [first![1]!], [])!;
  record[4] = 0xfd;
  const data = Buffer.concat(
    [...second!, hex('658880')].flatMap(unit => [Buffer.from([0, unit.length]), unit]),
  );
  const inBand = new InBandConfig();
  inBand.take(samples.videoConfig('avc1', record));
  const [config] = inBand.take(samples.video('avc1', { dtsMs: 0, isKeyframe: true, data }));
  expect(config!.data[4]).toBe(0xfd);
});

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}
