import { expect, test } from 'vitest';
import { classifyAccessUnit } from '../../../../src/media/codecs/access-unit.ts';
import { joinWithLengths } from '../../../../src/media/codecs/nal-units.ts';
import { hasRecoveryPoint } from '../../../../src/media/codecs/sei-messages.ts';
import { VideoSampleBuilder } from '../../../../src/media/codecs/video-sample-builder.ts';
import { captionPairs, captionUnit } from '../../../support/closed-captions.ts';
import { Random } from '../../../support/random.ts';

const sets = ['6742c00bda0a37e4c044000003000400000300f03c50aa80', '68ce0fc8'].map(hex =>
  Buffer.from(hex, 'hex'),
);
const slice = Buffer.from([0x41, 1, 2, 3]);
const recoveryPoint = [6, 1, 0xc4];
const pictureTiming = [1, 2, 0x12, 0x34];
const captions = [...captionUnit(captionPairs('HELLO')).subarray(1, -1)];
/** The message with which x264 names itself. Its size takes three bytes. */
const version = [5, 0xff, 0xff, 0x9f, ...Buffer.alloc(669, 'x264 ')];
/** Types and sizes of several bytes. */
const unknownType = [0xff, 0xff, 0x10, 3, 1, 2, 3];
/** Bytes of emulation prevention do not count in sizes. */
const zeros = [5, 18, ...Array.from({ length: 9 }, () => [0, 0, 3]).flat()];
const telemetry = [5, ...Array<number>(40).fill(0xff), 0, ...Buffer.alloc(40 * 255, 7)];

const sei = (...messages: readonly (readonly number[])[]) => Buffer.from([6, ...messages.flat(), 0x80]);

const found = {
  'the only message': sei(recoveryPoint),
  'behind picture timing': sei(pictureTiming, recoveryPoint),
  'before others': sei(recoveryPoint, captions),
  'behind captions': sei(captions, recoveryPoint),
  'behind a size of several bytes': sei(version, recoveryPoint),
  'behind a type of several bytes': sei(unknownType, recoveryPoint),
  'behind emulation prevention': sei(zeros, recoveryPoint),
  'behind ten thousand bytes': sei(telemetry, recoveryPoint),
  'behind all of these': sei(version, unknownType, zeros, pictureTiming, captions, recoveryPoint, captions),
};

const missing = {
  'only other messages': sei(captions, version, unknownType),
  'inside another message': sei([5, 3, ...recoveryPoint]),
  'the size of another message': sei([5, 6, 1, 2, 3, 4, 5, 6]),
  'behind a message that is too long': sei([5, 250], recoveryPoint),
  'behind too many messages': sei(...Array<number[]>(32).fill([5, 1, 1]), recoveryPoint),
  'an empty unit': Buffer.from([6]),
};

test.each(Object.entries(found))('a recovery point is found: %s', (_, unit) => {
  const frame = [unit, slice];
  expect(classifyAccessUnit('avc1', joinWithLengths(frame), 4)).toBe('recovery');
  expect(new VideoSampleBuilder('avc1').build([...sets, ...frame])).toMatchObject({ isKeyframe: true });
});

test.each(Object.entries(missing))('no recovery point is found: %s', (_, unit) => {
  const frame = [unit, slice];
  expect(classifyAccessUnit('avc1', joinWithLengths(frame), 4)).toBe('frame');
  expect(new VideoSampleBuilder('avc1').build([...sets, ...frame])).toMatchObject({ isKeyframe: false });
});

test('mutated units are read without an error', () => {
  const random = new Random(6);
  const valid = sei(unknownType, zeros, pictureTiming, captions, recoveryPoint);
  for (let count = 0; count < 5000; count += 1) {
    const mutant = Buffer.from(valid.subarray(0, 1 + random.below(valid.length)));
    for (let left = random.below(4); left >= 0; left -= 1)
      mutant[random.below(mutant.length)] = random.below(256);
    expect(typeof hasRecoveryPoint(mutant)).toBe('boolean');
  }
});
