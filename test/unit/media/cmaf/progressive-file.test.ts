import { describe, expect, test } from 'vitest';
import { box, fullBox, u32 } from '../../../../src/media/cmaf/box-writer.ts';
import { type ReadAt, readProgressiveMovie } from '../../../../src/media/cmaf/progressive-file.ts';
import { SampleCursor } from '../../../../src/media/cmaf/sample-cursor.ts';
import { startsWithIdr } from '../../../../src/media/codecs/starts-with-idr.ts';
import {
  avcEntry,
  gops,
  type MadeTrack,
  makeMovie,
  sounds,
  unit,
} from '../../../support/progressive-movie.ts';

function reading(bytes: Buffer, asked: number[] = []): ReadAt {
  return (position, length) => {
    asked.push(length);
    return Promise.resolve(bytes.subarray(position, position + length));
  };
}

const video: MadeTrack = { kind: 'video', timescale: 12_800, samples: gops([3, 2], 512) };

describe('a progressive file', () => {
  test('describes its tracks', async () => {
    const { bytes } = makeMovie([video, { kind: 'audio', timescale: 48_000, samples: sounds(5) }]);
    const movie = await readProgressiveMovie(reading(bytes), bytes.length);
    expect(movie.timescale).toBe(1000);
    expect(movie.tracks).toMatchObject([
      { index: 0, kind: 'video', lengthBytes: 4, description: { id: 1, codec: 'avc1.64000d', width: 320 } },
      { index: 1, kind: 'audio', description: { id: 1, codec: 'mp4a.40.2', sampleRate: 48_000 } },
    ]);
  });

  test('describes the decode time, position and sync flag of each sample', async () => {
    const { bytes, data } = makeMovie([{ ...video, samplesPerChunk: 2 }]);
    const movie = await readProgressiveMovie(reading(bytes), bytes.length);
    const cursor = new SampleCursor(movie.tracks[0]!.samples, bytes.length);
    const seen = [];
    while (cursor.next()) {
      const { dtsTicks, isSync, position, sizeBytes } = cursor;
      seen.push({ dtsTicks, isSync, data: bytes.subarray(position, position + sizeBytes) });
    }
    expect(seen).toEqual(
      data[0]!.map((bytesOfSample, index) => ({
        dtsTicks: index * 512,
        isSync: index === 0 || index === 3,
        data: bytesOfSample,
      })),
    );
  });

  test('is read without its media, wherever the moov is', async () => {
    const { bytes } = makeMovie([video], { isMovieLast: true });
    const front = box('free', Buffer.alloc(100_000));
    const asked: number[] = [];
    const whole = Buffer.concat([front, bytes]);
    await readProgressiveMovie(reading(whole, asked), whole.length);
    expect(asked.reduce((sum, length) => sum + length, 0)).toBeLessThan(2000);
  });

  const broken: readonly (readonly [string, Buffer, RegExp])[] = [
    ['nothing', Buffer.alloc(0), /has no "moov"/],
    ['zeros', Buffer.alloc(100), /has no "mvhd"|has no "moov"|size/],
    ['a moov that is longer than the file', Buffer.concat([u32(5000), Buffer.from('moov')]), /truncated/],
    ['a moov of nothing', box('moov'), /has no "mvhd"/],
    ['a compressed moov', box('moov', box('cmov')), /compressed/],
    ['a fragment first', Buffer.concat([box('moof'), box('moov')]), /comes before/],
    ['a movie without a clock', box('moov', fullBox('mvhd', 0, 0, u32(0, 0, 0, 0))), /timescale 0/],
    [
      'thousands of boxes',
      Buffer.concat([...Array.from({ length: 3000 }, () => box('free')), box('moov')]),
      /has no "moov"/,
    ],
  ];
  test.each(broken)('is none if it is %s', async (_, bytes, problem) => {
    await expect(readProgressiveMovie(reading(bytes), bytes.length)).rejects.toThrow(problem);
  });

  test('reads at most 128 MiB of moov', async () => {
    const header = Buffer.concat([u32(300 * 1024 * 1024), Buffer.from('moov')]);
    const asked: number[] = [];
    await expect(readProgressiveMovie(reading(header, asked), 2 ** 40)).rejects.toThrow(/maximum/);
    expect(Math.max(...asked)).toBeLessThan(100);
  });

  test('is believed no table that its box has no room for', async () => {
    const { bytes } = makeMovie([video]);
    for (const type of ['stts', 'stsc', 'stsz', 'stco', 'stss']) {
      const changed = Buffer.from(bytes);
      changed.writeUInt32BE(0x0fffffff, changed.indexOf(type) + (type === 'stsz' ? 12 : 8));
      await expect(readProgressiveMovie(reading(changed), changed.length)).rejects.toThrow(/fit|too many/);
    }
  });

  test('may have only so many boxes inside one parent', async () => {
    const frees = Array.from({ length: 4096 }, () => box('free'));
    const { bytes } = makeMovie([video], { movieBoxes: frees });
    await expect(readProgressiveMovie(reading(bytes), bytes.length)).rejects.toThrow(
      'box "moov": has more than 4096 boxes',
    );
  });

  test('may have only so many table entries that count no samples', async () => {
    const { bytes } = makeMovie([{ ...video, samples: gops([3000], 512) }]);
    const changed = Buffer.from(bytes);
    const entries = changed.indexOf('stts') + 12;
    for (let entry = 0; entry < 2000; entry++) changed.writeUInt32BE(0, entries + 8 * entry);
    const movie = await readProgressiveMovie(reading(changed), changed.length);
    const cursor = new SampleCursor(movie.tracks[0]!.samples, changed.length);
    expect(() => cursor.next()).toThrow('box "stts": has too many entries that count no samples');
  });

  test('is not carried with a sample description of megabytes', async () => {
    const { bytes } = makeMovie([
      { ...video, entries: [avcEntry('avc1', box('free', Buffer.alloc(2 ** 20)))] },
    ]);
    const movie = await readProgressiveMovie(reading(bytes), bytes.length);
    expect(movie.tracks[0]).toMatchObject({
      description: undefined,
      problem: expect.stringMatching(/^has a sample description of \d+ bytes$/),
    });
  });

  test('has its samples inside the file, however few bytes its tables take', async () => {
    const { bytes } = makeMovie([video]);
    const changed = Buffer.from(bytes);
    // Gives all samples one size: then a table of sizes is not needed.
    changed.writeUInt32BE(1_000_000, changed.indexOf('stsz') + 8);
    changed.writeUInt32BE(5_000_000, changed.indexOf('stsz') + 12);
    const movie = await readProgressiveMovie(reading(changed), changed.length);
    const cursor = new SampleCursor(movie.tracks[0]!.samples, changed.length);
    expect(() => {
      while (cursor.next());
    }).toThrow(/outside the file/);
  });
});

describe('a sample of H.264', () => {
  const samples: readonly (readonly [string, Buffer, boolean])[] = [
    ['an IDR slice', unit(5), true],
    ['parameter sets and an IDR slice', Buffer.concat([unit(7), unit(8), unit(5)]), true],
    ['a long message and an IDR slice', Buffer.concat([unit(6, 9000), unit(6, 1016), unit(5, 5000)]), true],
    ['another slice', unit(1), false],
    ['another slice before an IDR slice', Buffer.concat([unit(1), unit(5)]), false],
    ['no slice', Buffer.concat([unit(7), unit(8)]), false],
    ['nothing', Buffer.alloc(0), false],
    ['a unit without bytes', u32(0, 0), false],
    ['a unit longer than the sample', Buffer.concat([u32(100), Buffer.from([0x65])]), false],
    [
      'more units than anybody needs',
      Buffer.concat([...Array.from({ length: 40 }, () => unit(9, 2)), unit(5)]),
      false,
    ],
  ];
  test.each(samples)('begins with an IDR picture or not: %s', async (_, data, isIdr) => {
    const around = Buffer.concat([Buffer.alloc(100, 0x65), data, Buffer.alloc(100, 0x65)]);
    expect(await startsWithIdr(reading(around), 100, data.length, 4)).toBe(isIdr);
  });
});
