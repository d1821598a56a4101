import { describe, expect, test } from 'vitest';
import { readFragmentLayout } from '../../../../src/media/cmaf/fragment-layout.ts';
import type { Sample } from '../../../../src/media/cmaf/fragment-reader.ts';
import { locateSamples, writeFragment } from '../../../../src/media/cmaf/fragment-writer.ts';
import { writeInitSegment } from '../../../../src/media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../../../src/media/cmaf/movie-box.ts';
import { bodyOf, fixture, fixtureNames, readAll } from './read-all.ts';

const run = (samples: Partial<Sample>[]) => ({
  trackId: 1,
  baseDtsTicks: 2 ** 32 + 5,
  samples: samples.map(sample => ({
    durationTicks: 10,
    compositionOffsetTicks: 0,
    isSync: true,
    data: Buffer.from('aa', 'hex'),
    ...sample,
  })),
});

/** `samples` written `perFragment` at a time, behind an init segment for `tracks`. */
function rewritten(tracks: TrackDescription[], samples: Sample[], perFragment: number): Buffer {
  const stream = [writeInitSegment(tracks)];
  for (let at = 0; at < samples.length; at += perFragment) {
    const some = samples.slice(at, at + perFragment);
    const runs = tracks.map(({ id }) => {
      const own = some.filter(({ trackId }) => trackId === id);
      return { trackId: id, baseDtsTicks: own[0]?.dtsTicks ?? 0, samples: own };
    });
    stream.push(writeFragment(at, runs));
  }
  return Buffer.concat(stream);
}

/** Sorts samples by track, as fragments do. */
function byTrack({ tracks, samples }: { tracks: TrackDescription[]; samples: Sample[] }): Sample[][] {
  return tracks.map(({ id }) => samples.filter(({ trackId }) => trackId === id));
}

test('samples are located as a reader of the fragment finds them', () => {
  const video = run([
    { durationTicks: 7, compositionOffsetTicks: -3 },
    { isSync: false, data: Buffer.alloc(300) },
  ]);
  const audio = { ...run([{ data: Buffer.alloc(5) }, {}]), trackId: 2 };
  const runs = [video, { ...run([]), trackId: 3 }, audio];
  const fragment = writeFragment(1, runs);
  expect(locateSamples(fragment, runs)).toEqual(readFragmentLayout(fragment, [1, 2]).samples);
});

describe('what we write reads as what it was made of', () => {
  test.each(fixtureNames)('%s', name => {
    const original = readAll(fixture(name));
    for (const perFragment of [1, 5, 100]) {
      const stream = rewritten(original.tracks, original.samples, perFragment);
      expect(byTrack(readAll(stream))).toEqual(byTrack(original));
    }
  });
});

describe('a fragment', () => {
  test('byte by byte', () => {
    const bytes = writeFragment(7, [
      run([
        { durationTicks: 10, data: Buffer.from('aabb', 'hex') },
        { isSync: false, compositionOffsetTicks: -2 },
      ]),
    ]);
    expect(bytes.toString('hex').match(/.{1,8}/g)).toEqual([
      ...['00000074', '6d6f6f66'], // moof
      ...['00000010', '6d666864', '00000000', '00000007'], // mfhd
      ...['0000005c', '74726166'], // traf
      ...['00000018', '74666864', '00020028', '00000001', '0000000a', '01010000'], // tfhd: one duration, flags of the rest
      ...['00000014', '74666474', '01000000', '00000001', '00000005'], // tfdt: 64 bits
      ...['00000028', '7472756e', '01000a05', '00000002', '0000007c', '02000000'], // trun: flags of the first
      ...['00000002', '00000000', '00000001', 'fffffffe'], // size and offset of each
      ...['0000000b', '6d646174', 'aabbaa'], // mdat
    ]);
  });

  test('says once what all samples share', () => {
    const bytes = writeFragment(1, [run([{}, {}, {}])]);
    expect(bodyOf(bytes, 'moof/traf/tfhd').toString('hex')).toBe(
      ['00020038', '00000001', '0000000a', '00000001', '02000000'].join(''),
    );
    expect(bodyOf(bytes, 'moof/traf/trun').toString('hex')).toBe(
      ['01000001', '00000003', '0000006c'].join(''),
    );
  });

  test('holds the data of two tracks one after the other', () => {
    const bytes = writeFragment(1, [
      run([{}]),
      { ...run([{ data: Buffer.from('bbcc', 'hex') }]), trackId: 2 },
    ]);
    expect(bytes.subarray(-3).toString('hex')).toBe('aabbcc');
    const offsets = ['01000001', '01000001'].map((flags, index) => {
      const at = bytes.indexOf('trun', index === 0 ? 0 : bytes.indexOf('trun') + 1);
      expect(bytes.toString('hex', at + 4, at + 8)).toBe(flags);
      return bytes.readUInt32BE(at + 12);
    });
    expect(offsets).toEqual([bytes.length - 3, bytes.length - 2]);
  });

  test('leaves out runs without samples', () => {
    expect(writeFragment(1, [run([]), run([{}])])).toEqual(writeFragment(1, [run([{}])]));
  });

  test('is refused without any sample', () => {
    const refused = expect.objectContaining({ code: 'server-error', message: 'a fragment without samples' });
    expect(() => writeFragment(1, [])).toThrow(refused);
    expect(() => writeFragment(1, [run([])])).toThrow(refused);
  });
});
