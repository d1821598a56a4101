import { describe, expect, test } from 'vitest';
import { box, fullBox, u32 } from '../../../../src/media/cmaf/box-writer.ts';
import { FragmentReader, type Sample } from '../../../../src/media/cmaf/fragment-reader.ts';
import { fixture, fixtureNames, readAll, splitInit } from './read-all.ts';

const { init } = splitInit(fixture('h264-aac-5'));
const VIDEO = 1;
const AUDIO = 2;

/** Samples as `track:dts+duration~offset` with `*` on sync samples and the data in hex. */
function shown(samples: readonly Sample[]): string[] {
  return samples.map(
    ({ trackId, dtsTicks, durationTicks, compositionOffsetTicks, isSync, data }) =>
      `${trackId}:${dtsTicks}+${durationTicks}~${compositionOffsetTicks}${isSync ? '*' : ''} ${data.toString('hex')}`,
  );
}

/** A stream of our init segment and these boxes. */
function streamOf(...boxes: Buffer[]): Buffer {
  return Buffer.concat([init, ...boxes]);
}

function tfhd(flags: number, track: number, ...fields: number[]): Buffer {
  return fullBox('tfhd', 0, flags, u32(track, ...fields));
}

function trun(flags: number, count: number, ...fields: number[]): Buffer {
  return fullBox('trun', 0, flags, u32(count, ...fields));
}

const tfdt = (time: number) => fullBox('tfdt', 0, 0, u32(time));

/** A `moof` of these `traf` contents, and an `mdat` of `data`. */
function fragment(trafs: Buffer[][], data: string): Buffer {
  const moof = box('moof', fullBox('mfhd', 0, 0, u32(1)), ...trafs.map(boxes => box('traf', ...boxes)));
  return Buffer.concat([moof, box('mdat', Buffer.from(data, 'hex'))]);
}

/** The distance from the start of such a `moof` to the first byte of its data. */
function dataOffset(...trafs: Buffer[][]): number {
  return fragment(trafs, '').length;
}

/** Number of samples, and of sync samples. */
const samplesIn = {
  'h264-5': [12, 2],
  'h264-2018': [12, 2],
  'aac-5': [19, 19],
  'aac-2018': [19, 19],
  'h264-aac-5': [31, 21],
  'h264-aac-2018': [31, 21],
  'hevc-hlg-5': [12, 2],
  'hevc-hlg-2018': [12, 2],
  'mp3-5': [17, 17],
  'mp3-2018': [17, 17],
  'opus-5': [21, 21],
  'opus-2018': [21, 21],
  'av1-5': [6, 1],
  'flac-5': [4, 4],
  'h264-pq-pasp-5': [2, 1],
};

describe('what ffmpeg writes', () => {
  test.each(fixtureNames)('%s has its samples', name => {
    const { samples } = readAll(fixture(name));
    expect([samples.length, samples.filter(({ isSync }) => isSync).length]).toEqual(samplesIn[name]);
  });

  test.each(fixtureNames)('%s is the same in pieces of 1, 7 and 1000 bytes', name => {
    const whole = readAll(fixture(name));
    for (const pieceBytes of [1, 7, 1000]) expect(readAll(fixture(name), pieceBytes)).toEqual(whole);
  });

  test.each(['h264-5', 'h264-2018'])('%s has B-frames in decode order', name => {
    const { samples } = readAll(fixture(name));
    expect(samples.slice(0, 5).map(({ dtsTicks }) => dtsTicks)).toEqual([0, 640, 1280, 1920, 2560]);
    expect(samples.slice(0, 5).map(sample => sample.compositionOffsetTicks)).toEqual([
      1280, 2560, 640, 640, 1920,
    ]);
    expect(samples.map(({ isSync }) => isSync).indexOf(true, 1)).toBe(6);
  });

  test.each(['5', '2018'])('positions from the start of the file lead to the same data (%s)', build => {
    const split = [...readAll(fixture(`h264-${build}`)).samples, ...readAll(fixture(`aac-${build}`)).samples];
    const together = readAll(fixture(`h264-aac-${build}`)).samples;
    const dataOf = (samples: Sample[]) => samples.map(({ data }) => data.toString('hex')).sort();
    expect(dataOf(together)).toEqual(dataOf(split));
  });
});

describe('values come from the nearest place that has them', () => {
  /** The init segment with the video track's trex saying duration 7, size 2, flags non-sync. */
  const withTrex = Buffer.from(init);
  withTrex.write('00000007 00000002 00010000'.replaceAll(' ', ''), withTrex.indexOf('trex') + 16, 'hex');

  test('trex', () => {
    const head = [tfhd(0x020000, VIDEO), tfdt(10), trun(0, 2)];
    const run = [tfhd(0x020000, VIDEO), tfdt(10), trun(1, 2, dataOffset(head) + 4)];
    expect(shown(readAll(Buffer.concat([withTrex, fragment([run], 'aaaabbbb')])).samples)).toEqual([
      '1:10+7~0 aaaa',
      '1:17+7~0 bbbb',
    ]);
  });

  test('tfhd, whose other optional fields are stepped over', () => {
    const run = (offset: number) => [
      tfhd(0x02003a, VIDEO, 1, 5, 1, 0x02000000),
      tfdt(10),
      trun(1, 2, offset),
    ];
    const stream = Buffer.concat([withTrex, fragment([run(dataOffset(run(0)))], 'aabb')]);
    expect(shown(readAll(stream).samples)).toEqual(['1:10+5~0* aa', '1:15+5~0* bb']);
  });

  test('trun, with flags for the first sample alone', () => {
    const run = (offset: number) => [
      tfhd(0x020020, VIDEO, 0x00010000),
      tfdt(10),
      trun(0x305, 2, offset, 0x02000000, 4, 1, 6, 2),
    ];
    const stream = Buffer.concat([withTrex, fragment([run(dataOffset(run(0)))], 'aabbbb')]);
    expect(shown(readAll(stream).samples)).toEqual(['1:10+4~0* aa', '1:14+6~0 bbbb']);
  });

  test('trun, all four for each sample', () => {
    const run = (offset: number) => [
      tfhd(0x020000, VIDEO),
      tfdt(10),
      trun(0xf01, 2, offset, 4, 1, 0x02000000, 9, 6, 2, 0x01010000, 0xfffffffd),
    ];
    const stream = Buffer.concat([withTrex, fragment([run(dataOffset(run(0)))], 'aabbbb')]);
    expect(shown(readAll(stream).samples)).toEqual(['1:10+4~9* aa', '1:14+6~-3 bbbb']);
  });

  test('composition offsets of a version 1 trun are signed', () => {
    const run = (offset: number) => [
      tfhd(0x020018, VIDEO, 1, 1),
      tfdt(0),
      fullBox('trun', 1, 0x801, u32(1, offset, 0xffffff00)),
    ];
    expect(shown(readAll(streamOf(fragment([run(dataOffset(run(0)))], 'aa'))).samples)).toEqual([
      '1:0+1~-256* aa',
    ]);
  });
});

describe('decode times', () => {
  test('of 64 bits are exact', () => {
    const run = (offset: number) => [
      tfhd(0x020018, AUDIO, 1, 1),
      fullBox('tfdt', 1, 0, u32(0x000fffff, 0xfffffffe)),
      trun(1, 2, offset),
    ];
    expect(shown(readAll(streamOf(fragment([run(dataOffset(run(0)))], 'aabb'))).samples)).toEqual([
      '2:4503599627370494+1~0* aa',
      '2:4503599627370495+1~0* bb',
    ]);
  });

  test('go on by track where a fragment names none', () => {
    const run = (track: number, offset: number) => [tfhd(0x020018, track, 5, 1), trun(1, 1, offset)];
    const both = fragment(
      [run(VIDEO, dataOffset(run(1, 0), run(2, 0))), run(AUDIO, dataOffset(run(1, 0), run(2, 0)) + 1)],
      'aabb',
    );
    expect(shown(readAll(streamOf(both, both)).samples)).toEqual([
      '1:0+5~0* aa',
      '2:0+5~0* bb',
      '1:5+5~0* aa',
      '2:5+5~0* bb',
    ]);
  });
});

describe('positions', () => {
  test('of a run without data offset follow the run before', () => {
    const traf = (offset: number) => [tfhd(0x020018, VIDEO, 1, 1), trun(1, 2, offset), trun(0, 1)];
    expect(shown(readAll(streamOf(fragment([traf(dataOffset(traf(0)))], 'aabbcc'))).samples)).toEqual([
      '1:0+1~0* aa',
      '1:1+1~0* bb',
      '1:2+1~0* cc',
    ]);
  });

  test('of a traf without any base follow the traf before', () => {
    const first = (offset: number) => [tfhd(0x18, VIDEO, 1, 1), trun(1, 2, offset)];
    const second = [tfhd(0x18, AUDIO, 1, 1), trun(0, 1)];
    const stream = streamOf(fragment([first(dataOffset(first(0), second)), second], 'aabbcc'));
    expect(shown(readAll(stream).samples)).toEqual(['1:0+1~0* aa', '1:1+1~0* bb', '2:0+1~0* cc']);
  });

  test('from base-data-offset count from the start of the stream, backwards too', () => {
    const traf = (base: number) => [tfhd(0x19, VIDEO, 0, base, 1, 1), trun(1, 1, -3 >>> 0)];
    const start = init.length + dataOffset(traf(0));
    expect(shown(readAll(streamOf(fragment([traf(start + 4)], 'aabbcc'))).samples)).toEqual(['1:0+1~0* bb']);
  });
});

describe('other boxes', () => {
  const plain = fixture('opus-5');
  const parts = splitInit(plain);

  test.each(['styp', 'sidx', 'prft', 'free', 'emsg', 'mfra', 'mdat'])('%s is passed over', type => {
    const extra = box(type, Buffer.from('nothing to see'));
    const stream = Buffer.concat([extra, parts.init, extra, parts.rest, extra, box(type)]);
    expect(readAll(stream)).toEqual(readAll(plain));
    expect(readAll(stream, 3)).toEqual(readAll(plain));
  });

  test('samples of a track that is neither video nor audio are left out', () => {
    const stream = Buffer.from(fixture('h264-aac-5'));
    stream.write('text', stream.indexOf('soun'), 'latin1');
    const { tracks, samples } = readAll(stream);
    expect(tracks.map(({ id }) => id)).toEqual([VIDEO]);
    expect(samples).toEqual(
      readAll(fixture('h264-aac-5')).samples.filter(({ trackId }) => trackId === VIDEO),
    );
  });

  test('a 64 bit size is understood', () => {
    const long = Buffer.concat([u32(1), Buffer.from('free'), u32(0, 20), Buffer.alloc(4)]);
    const stream = Buffer.concat([long, parts.init, long, parts.rest]);
    expect(readAll(stream)).toEqual(readAll(plain));
    expect(readAll(stream, 1)).toEqual(readAll(plain));
  });
});

describe('memory', () => {
  const run = (bytes: number) => (offset: number) => [tfhd(0x020018, VIDEO, 1, bytes), trun(1, 1, offset)];

  function read(chunk: Buffer): Sample[] {
    const samples: Sample[] = [];
    const reader = new FragmentReader({ onInit: () => {}, onSample: sample => void samples.push(sample) });
    reader.push(Buffer.from(init));
    reader.push(chunk);
    return samples;
  }

  test('a frame that fills its chunk is not copied', () => {
    const body = run(5000);
    // Memory of its own, as a pipe's chunks have.
    const chunk = Buffer.from(
      Uint8Array.from(fragment([body(dataOffset(body(0)))], 'ab'.repeat(5000))).buffer,
    );
    expect(read(chunk)[0]?.data.buffer).toBe(chunk.buffer);
  });

  test('a small frame does not hold on to a large chunk', () => {
    const body = run(50);
    const chunk = Buffer.concat([
      fragment([body(dataOffset(body(0)))], 'ab'.repeat(50)),
      box('free', Buffer.alloc(50_000)),
    ]);
    const [sample] = read(chunk);
    expect(sample?.data).toEqual(Buffer.alloc(50, 0xab));
    expect(sample?.data.buffer.byteLength).toBe(50);
  });

  test('a frame that comes in many pieces comes out whole', () => {
    const body = run(1_000_000);
    const stream = streamOf(fragment([body(dataOffset(body(0)))], 'cd'.repeat(1_000_000)));
    const { samples } = readAll(stream, 65_536);
    expect(samples[0]?.data.equals(Buffer.alloc(1_000_000, 0xcd))).toBe(true);
  });

  test('an announced box takes no memory before its bytes come', () => {
    const body = run(30_000_000);
    const head = fragment([body(dataOffset(body(0)))], '');
    head.writeUInt32BE(30_000_008, head.length - 8);
    const before = process.memoryUsage().arrayBuffers;
    const readers = Array.from({ length: 20 }, () => {
      const reader = new FragmentReader({ onInit: () => {}, onSample: () => {} });
      reader.push(Buffer.concat([init, head, Buffer.alloc(10)]));
      return reader;
    });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000);
    expect(readers).toHaveLength(20);
  });
});

describe('a broken stream is refused by the name of its box', () => {
  const sample = (offset: number, size = 1) => [tfhd(0x020018, VIDEO, 1, size), tfdt(0), trun(1, 1, offset)];
  const good = fragment([sample(dataOffset(sample(0)))], 'aa');
  const moof = good.subarray(0, good.length - 9);

  test.each([
    ['size 0', Buffer.from('0000000066726565', 'hex'), 'box "free": size 0'],
    ['a size below the header', Buffer.from('0000000766726565', 'hex'), 'box "free": size 7'],
    [
      'a long size below the header',
      Buffer.from('0000000166726565000000000000000f', 'hex'),
      'box "free": size 15',
    ],
    [
      'a large box',
      Buffer.from('ffffffff6d646174', 'hex'),
      'box "mdat": size 4294967295, at most 33554432 bytes are taken',
    ],
    [
      'an absurd box',
      Buffer.from('000000016d646174ffffffffffffffff', 'hex'),
      'box "mdat": size 18446744073709552000, at most 33554432 bytes are taken',
    ],
    [
      'garbage',
      Buffer.from('ff00ff0001020304', 'hex'),
      'box "....": size 4278255360, at most 33554432 bytes are taken',
    ],
    ['a second moov', init, 'box "moov": occurs twice'],
    ['two moofs', Buffer.concat([moof, moof]), 'box "moof": comes before the "mdat" of the one before'],
    ['no tfhd', fragment([[tfdt(0)]], ''), 'box "traf": has no "tfhd"'],
    ['an unknown track', fragment([[tfhd(0x020000, 9)]], ''), 'box "tfhd": no track has the id 9'],
    ['a short tfhd', fragment([[tfhd(0x020008, 1)]], ''), 'box "tfhd": needs 4 bytes, has 0 left'],
    [
      'a late tfdt',
      fragment([[tfhd(0x020000, 1), fullBox('tfdt', 1, 0, u32(0x00200000, 0))]], ''),
      'box "tfdt": number 9007199254740992 is out of range',
    ],
    [
      'a very late tfdt',
      fragment([[tfhd(0x020000, 1), fullBox('tfdt', 1, 0, u32(0x00100000, 1))]], ''),
      'box "tfdt": decode time 4503599627370497 is out of range',
    ],
    [
      'a short trun',
      fragment([[tfhd(0x020000, 1), trun(0x201, 2, 0, 1)]], ''),
      'box "trun": needs 4 bytes, has 0 left',
    ],
    [
      'too many samples',
      fragment([[tfhd(0x020018, 1, 1, 1), trun(1, 65_537, 0)]], ''),
      'box "trun": 65537 samples are too many',
    ],
    [
      'too much data',
      fragment([[tfhd(0x020018, 1, 1, 0xffffffff), trun(1, 1, 0)]], ''),
      'box "trun": more than 33554432 bytes of data',
    ],
    [
      'an empty sample',
      fragment([[tfhd(0x020018, 1, 1, 0), trun(1, 1, 0)]], ''),
      'box "trun": a sample without data',
    ],
    [
      'data before the mdat',
      fragment([sample(dataOffset(sample(0)) - 1)], 'aa'),
      'box "trun": data outside the "mdat" that follows',
    ],
    [
      'data after it',
      fragment([sample(dataOffset(sample(0)), 2)], 'aa'),
      'box "trun": data outside the "mdat" that follows',
    ],
    [
      'a box that does not fit',
      box('moof', u32(9), Buffer.from('mfhd')),
      'box "mfhd": size 9, but "moof" has 8 bytes left',
    ],
  ])('%s', (_, bytes, message) => {
    for (const pieceBytes of [undefined, 1]) {
      expect(() => readAll(streamOf(bytes), pieceBytes)).toThrow(
        expect.objectContaining({ code: 'media-malformed', message }),
      );
    }
  });

  test('a moof before the moov', () => {
    expect(() => readAll(good)).toThrow('box "moof": comes before "moov"');
  });

  test('a box above the chosen limit', () => {
    const reader = new FragmentReader({ onInit: () => {}, onSample: () => {} }, { maxBoxBytes: 100 });
    reader.push(box('free', Buffer.alloc(92)));
    expect(() => reader.push(box('free', Buffer.alloc(93)))).toThrow('at most 100 bytes are taken');
  });

  test('every later push fails likewise', () => {
    const reader = new FragmentReader({ onInit: () => {}, onSample: () => {} });
    expect(() => reader.push(Buffer.alloc(8))).toThrow('size 0');
    expect(() => reader.push(init)).toThrow('size 0');
  });
});
