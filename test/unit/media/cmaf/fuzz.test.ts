import { describe, expect, test } from 'vitest';
import { FragmentReader } from '../../../../src/media/cmaf/fragment-reader.ts';
import { writeFragment } from '../../../../src/media/cmaf/fragment-writer.ts';
import { parseInitSegment, writeInitSegment } from '../../../../src/media/cmaf/init-segment.ts';
import { AppError } from '../../../../src/shared/errors.ts';
import { Random } from '../../../support/random.ts';
import { fixture, fixtureNames, splitInit } from './read-all.ts';

const MUTATIONS_PER_FIXTURE = 300;

/** Values that break what trusts sizes, counts and offsets. */
const awkward = [
  0, 1, 7, 8, 9, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xfffffff8, 0xffffffff,
];

/** A copy of `stream` with one to four changes, most of them in the boxes and not in the pictures. */
function mutated(stream: Buffer, random: Random): Buffer {
  let bytes = Buffer.from(stream);
  const marks = [
    'moov',
    'trak',
    'stsd',
    'avcC',
    'hvcC',
    'esds',
    'mvex',
    'trex',
    'moof',
    'traf',
    'tfhd',
    'tfdt',
    'trun',
    'mdat',
  ];
  for (let left = 1 + random.below(4); left > 0; left--) {
    const mark = bytes.indexOf(marks[random.below(marks.length)] ?? '', random.below(bytes.length));
    const near =
      random.below(4) === 0 || mark === -1 ? random.below(bytes.length) : mark - 4 + random.below(40);
    const at = Math.max(0, Math.min(bytes.length - 4, near));
    switch (random.below(6)) {
      case 0:
        bytes[at] = random.below(256);
        break;
      case 1:
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random.below(8));
        break;
      case 2:
        bytes.writeUInt32BE(awkward[random.below(awkward.length)] ?? 0, at);
        break;
      case 3:
        bytes = bytes.subarray(0, at);
        break;
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + random.below(64))]);
        break;
      default:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.max(0, at - random.below(64)))]);
    }
    if (bytes.length < 8) break;
  }
  return bytes;
}

/** Reads `stream`, writes what it holds anew, and gives how many samples came; fails on any error but the one that media may cause. */
function outcome(stream: Buffer, pieceBytes: number): { samples: number; error: string | undefined } {
  let samples = 0;
  let inits = 0;
  const reader = new FragmentReader({
    onInit: tracks => {
      inits += 1;
      expect(parseInitSegment(writeInitSegment(tracks))).toEqual(tracks);
    },
    onSample: sample => {
      const { trackId, data, dtsTicks, durationTicks } = sample;
      const written = writeFragment(samples, [{ trackId, baseDtsTicks: dtsTicks, samples: [sample] }]);
      expect(written.subarray(-data.length).equals(data)).toBe(true);
      expect(inits).toBe(1);
      expect(data.length).toBeGreaterThan(0);
      expect(Number.isSafeInteger(dtsTicks + durationTicks)).toBe(true);
      samples += 1;
    },
  });
  try {
    for (let at = 0; at < stream.length; at += pieceBytes) reader.push(stream.subarray(at, at + pieceBytes));
    return { samples, error: undefined };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'media-malformed') throw error;
    return { samples, error: error.message };
  }
}

describe('mutated streams', () => {
  test.each(fixtureNames.map((name, index) => [name, index + 1] as const))('%s, seed %d', (name, seed) => {
    const random = new Random(seed);
    const stream = fixture(name);
    let refused = 0;
    for (let count = 0; count < MUTATIONS_PER_FIXTURE; count++) {
      const bytes = mutated(stream, random);
      const whole = outcome(bytes, Math.max(1, bytes.length));
      expect(outcome(bytes, 1 + random.below(200))).toEqual(whole);
      if (whole.error !== undefined) refused += 1;
      expect(whole.samples).toBeLessThanOrEqual(bytes.length);
    }
    // Expects both outcomes, so that the mutations neither miss the boxes nor only destroy them.
    expect(refused).toBeGreaterThan(MUTATIONS_PER_FIXTURE / 10);
    expect(refused).toBeLessThan(MUTATIONS_PER_FIXTURE);
  });
});

describe('truncated streams', () => {
  test.each(['h264-aac-5', 'hevc-hlg-2018', 'mp3-5', 'opus-5', 'av1-5'])('%s, after every byte', name => {
    const stream = fixture(name);
    let last = 0;
    for (let length = 0; length <= stream.length; length += 1) {
      const { samples, error } = outcome(stream.subarray(0, length), stream.length);
      expect(error).toBeUndefined();
      expect(samples).toBeGreaterThanOrEqual(last);
      last = samples;
    }
  });

  test.each(['h264-aac-5', 'hevc-hlg-2018'])('%s, its init segment alone', name => {
    const { init } = splitInit(fixture(name));
    for (let length = 0; length < init.length; length++) {
      expect(() => parseInitSegment(init.subarray(0, length))).toThrow(
        expect.objectContaining({ code: 'media-malformed' }),
      );
    }
  });
});
