import { expect, test } from 'vitest';
import { findCaptionChannels } from '../../../../src/media/codecs/closed-captions.ts';
import { joinWithLengths } from '../../../../src/media/codecs/nal-units.ts';
import { captionPairs, captionUnit, serviceUnit } from '../../../support/closed-captions.ts';
import { Random } from '../../../support/random.ts';

const slice = Buffer.from([0x65, 1, 2, 3]);
const padding = [0x80, 0x80] as const;
const frame = (...units: Buffer[]) => joinWithLengths([...units, slice]);

test('captions of the first field are CC1, also while they are padding', () => {
  expect(findCaptionChannels('avc1.64001f', frame(captionUnit(captionPairs('HI'))))).toEqual(['CC1']);
  expect(findCaptionChannels('avc1.64001f', frame(captionUnit([padding])))).toEqual(['CC1']);
});

test('captions of the second field are CC3, but its padding is not', () => {
  expect(findCaptionChannels('avc1.64001f', frame(captionUnit(captionPairs('HI'), 1)))).toEqual(['CC3']);
  expect(findCaptionChannels('avc1.64001f', frame(captionUnit([padding], 1)))).toEqual([]);
});

test('services of CEA-708 are found by the headers of their blocks, also extended ones', () => {
  const text = [0x48, 0x49];
  const first = [(1 << 5) | 2, ...text];
  const extended = [(7 << 5) | 2, 12, ...text];
  expect(findCaptionChannels('avc1.64001f', frame(serviceUnit([...first, ...extended])))).toEqual([
    ...['SERVICE1', 'SERVICE12'],
  ]);
  expect(findCaptionChannels('avc1.64001f', frame(serviceUnit([0, 0, 0])))).toEqual([]);
});

test('captions of HEVC are in prefix SEI units', () => {
  const unit = Buffer.concat([Buffer.from([39 << 1, 1]), captionUnit([padding]).subarray(1)]);
  const frameOfHevc = joinWithLengths([unit, Buffer.from([19 << 1, 1, 0])]);
  expect(findCaptionChannels('hvc1.1.6.L93.B0', frameOfHevc)).toEqual(['CC1']);
});

test('other messages, slices and codecs have none', () => {
  const version = Buffer.from([6, 5, 17, ...Buffer.alloc(16, 7), 0x41, 0x80]);
  expect(findCaptionChannels('avc1.64001f', frame(version))).toEqual([]);
  expect(findCaptionChannels('avc1.64001f', joinWithLengths([slice, captionUnit([padding])]))).toEqual([]);
  expect(findCaptionChannels('av01.0.04M.08', frame(captionUnit([padding])))).toEqual([]);
  expect(findCaptionChannels(undefined, frame(captionUnit([padding])))).toEqual([]);
});

test('behind another message, and with emulation prevention', () => {
  const version = Buffer.from([5, 16, ...Buffer.alloc(16, 7)]);
  const captions = captionUnit([padding]).subarray(1);
  expect(
    findCaptionChannels('avc1.64001f', frame(Buffer.concat([Buffer.from([6]), version, captions]))),
  ).toEqual(['CC1']);
  const escaped = Buffer.from([5, 12, ...[0, 0, 3, 0, 0, 3, 0, 0, 3, 0, 0, 3, 0, 0, 3, 0, 0, 3]]);
  expect(
    findCaptionChannels('avc1.64001f', frame(Buffer.concat([Buffer.from([6]), escaped, captions]))),
  ).toEqual(['CC1']);
});

test('mutated units are read without an error', () => {
  const random = new Random(608);
  const valid = frame(captionUnit(captionPairs('HELLO')), serviceUnit([(1 << 5) | 2, 0x48, 0x49]));
  for (let count = 0; count < 20_000; count += 1) {
    const mutant = Buffer.from(valid.subarray(0, 1 + random.below(valid.length)));
    for (let left = random.below(4); left >= 0; left -= 1)
      mutant[random.below(mutant.length)] = random.below(256);
    expect(findCaptionChannels('avc1.64001f', mutant).length).toBeLessThanOrEqual(2 + 63);
  }
});
