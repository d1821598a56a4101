import { describe, expect, test } from 'vitest';
import { box, fullBox, u32 } from '../../../../src/media/cmaf/box-writer.ts';
import { parseInitSegment, writeInitSegment } from '../../../../src/media/cmaf/init-segment.ts';
import type { TrackDescription } from '../../../../src/media/cmaf/movie-box.ts';
import { readTrackLabels } from '../../../../src/media/cmaf/track-label.ts';
import { bodyOf, fixture, fixtureNames, splitInit } from './read-all.ts';

const video = { kind: 'video', width: 96, height: 54, videoRange: 'SDR' };
const h264 = { ...video, id: 1, timescale: 16_000, codec: 'avc1.64000a' };
const aac = { kind: 'audio', timescale: 44_100, codec: 'mp4a.40.2', sampleRate: 44_100, channels: 1 };
const hevc = { ...video, id: 1, timescale: 12_800, codec: 'hvc1.2.4.L30.90', videoRange: 'HLG' };
const mp3 = { ...aac, id: 1, codec: 'mp4a.40.34', channels: 2 };
const opus = { ...aac, id: 1, timescale: 48_000, sampleRate: 48_000, codec: 'opus' };

const described: Record<(typeof fixtureNames)[number], object[]> = {
  'h264-5': [h264],
  'h264-2018': [h264],
  'aac-5': [{ ...aac, id: 1 }],
  'aac-2018': [{ ...aac, id: 1 }],
  'h264-aac-5': [h264, { ...aac, id: 2 }],
  'h264-aac-2018': [h264, { ...aac, id: 2 }],
  'hevc-hlg-5': [hevc],
  'hevc-hlg-2018': [hevc],
  'mp3-5': [mp3],
  'mp3-2018': [mp3],
  'opus-5': [opus],
  'opus-2018': [opus],
  'av1-5': [{ ...video, id: 1, timescale: 12_800, codec: 'av01.0.00M.08' }],
  'flac-5': [{ ...aac, id: 1, codec: 'fLaC' }],
  'h264-pq-pasp-5': [{ ...video, id: 1, timescale: 12_800, codec: 'avc1.6e000a', videoRange: 'PQ' }],
};

function tracksOf(name: string): TrackDescription[] {
  return parseInitSegment(splitInit(fixture(name)).init);
}

describe('what ffmpeg writes is described', () => {
  test.each(fixtureNames)('%s', name => {
    const facts = tracksOf(name).map(({ sampleEntry: _, ...rest }) => rest);
    expect(facts).toEqual(described[name]);
  });
});

describe('what we write reads the same', () => {
  test.each(fixtureNames)('%s', name => {
    const tracks = tracksOf(name);
    expect(parseInitSegment(writeInitSegment(tracks))).toEqual(tracks);
  });
});

describe('the init segment we write', () => {
  const both = tracksOf('h264-aac-5');

  test('carries the CMAF brand only with one track', () => {
    expect(bodyOf(writeInitSegment(both), 'ftyp').toString('latin1')).toBe('iso6\0\0\0\0iso6');
    expect(bodyOf(writeInitSegment(both.slice(0, 1)), 'ftyp').toString('latin1')).toBe(
      'iso6\0\0\0\0iso6cmfc',
    );
  });

  test('says nothing of durations or samples', () => {
    const bytes = writeInitSegment(both);
    expect(bodyOf(bytes, 'moov/mvhd').readUInt32BE(16)).toBe(0);
    expect(bodyOf(bytes, 'moov/trak/tkhd').readUInt32BE(20)).toBe(0);
    expect(bodyOf(bytes, 'moov/trak/mdia/mdhd').readUInt32BE(16)).toBe(0);
    expect(bodyOf(bytes, 'moov/trak/mdia/minf/stbl/stsz')).toEqual(Buffer.alloc(12));
    expect(bytes.includes('edts')).toBe(false);
  });

  test('names the next track id and gives every track its defaults', () => {
    const bytes = writeInitSegment(both);
    expect(bodyOf(bytes, 'moov/mvhd').readUInt32BE(96)).toBe(3);
    expect(bodyOf(bytes, 'moov/mvex').toString('hex')).toBe(
      [1, 2].map(id => fullBox('trex', 0, 0, u32(id, 1, 0, 0, 0)).toString('hex')).join(''),
    );
  });

  test.each([
    [undefined, 'und'],
    ['fra', 'fra'],
    ['en', 'und'],
    ['FRA', 'und'],
  ])('has the language %s as %s', (language, code) => {
    const [track] = tracksOf('aac-5');
    const init = writeInitSegment([{ ...track!, language }]);
    const packed = init.readUInt16BE(init.indexOf('mdhd') + 24);
    expect(String.fromCharCode(...[10, 5, 0].map(bits => 0x60 + ((packed >> bits) & 31)))).toBe(code);
  });

  test('tells labelled tracks apart, and reads their labels back', () => {
    const [track] = tracksOf('aac-5');
    const labels = [
      { name: 'Stadion Köln', language: 'fr-CA', isDefault: false },
      { name: undefined, language: undefined, isDefault: true },
    ];
    const tracks = [undefined, ...labels].map((label, index) => ({ ...track!, id: index + 1, label }));
    const init = writeInitSegment(tracks);
    expect([...readTrackLabels(init)]).toEqual([
      [2, labels[0]],
      [3, labels[1]],
    ]);
    expect(parseInitSegment(init).map(({ id }) => id)).toEqual([1, 2, 3]);
  });

  test('shows the picture in its pixel aspect ratio', () => {
    const header = bodyOf(writeInitSegment(tracksOf('h264-pq-pasp-5')), 'moov/trak/tkhd');
    expect([header.readUInt32BE(76) / 65_536, header.readUInt32BE(80) / 65_536]).toEqual([128, 54]);
  });

  test('shows square pixels as they are', () => {
    const header = bodyOf(writeInitSegment(tracksOf('av1-5')), 'moov/trak/tkhd');
    expect([header.readUInt32BE(76) / 65_536, header.readUInt32BE(80) / 65_536]).toEqual([96, 54]);
  });
});

describe('HEVC', () => {
  const { init } = splitInit(fixture('hevc-hlg-5'));

  test('becomes hvc1 with complete arrays when the parameter sets are in the entry', () => {
    expect(init.includes('hev1')).toBe(true);
    const [track] = parseInitSegment(init);
    expect(track?.sampleEntry.toString('latin1', 4, 8)).toBe('hvc1');
    const arrays = track?.sampleEntry.indexOf('hvcC') ?? 0;
    expect(track?.sampleEntry[arrays + 4 + 23]).toBe(0x80 | 32);
    expect(init.includes('hev1')).toBe(true);
  });

  test('stays hev1 when one is missing', () => {
    const changed = Buffer.from(init);
    // The first array holds the VPS (32): make it a SEI array.
    changed[changed.indexOf('hvcC') + 4 + 23] = 39;
    expect(parseInitSegment(changed)[0]?.codec).toBe('hev1.2.4.L30.90');
  });

  test('may not have thousands of empty parameter sets', () => {
    const changed = Buffer.from(init);
    changed.writeUInt16BE(5000, changed.indexOf('hvcC') + 4 + 24);
    expect(() => parseInitSegment(changed)).toThrow('box "hvcC": has more than 256 NAL units');
  });
});

test('a decoder configuration of megabytes is refused', () => {
  const [track] = parseInitSegment(splitInit(fixture('h264-5')).init);
  const entry = track!.sampleEntry;
  const large = box('avc1', entry.subarray(8), box('free', Buffer.alloc(2 ** 20)));
  const init = writeInitSegment([{ ...track!, sampleEntry: large }]);
  expect(() => parseInitSegment(init)).toThrow(/box "avc1": has \d+ bytes, the maximum is 262144/);
});

describe('dynamic range', () => {
  const [plain] = tracksOf('h264-5');
  const [pq] = tracksOf('h264-pq-pasp-5');

  /** The track with a `colr` of this transfer characteristic added to its sample entry. */
  function withColour(track: TrackDescription | undefined, transfer: number): TrackDescription {
    const entry = track?.sampleEntry ?? Buffer.alloc(0);
    const colour = box('colr', Buffer.from('nclx'), Buffer.from([0, 9, 0, transfer, 0, 9, 0]));
    const sampleEntry = Buffer.concat([entry, colour]);
    sampleEntry.writeUInt32BE(sampleEntry.length);
    return { ...(track as TrackDescription), sampleEntry };
  }

  test.each([
    ['HLG', 18],
    ['PQ', 16],
    ['SDR', 1],
  ] as const)('is %s for a colr with transfer %d', (range, transfer) => {
    expect(parseInitSegment(writeInitSegment([withColour(plain, transfer)]))[0]?.videoRange).toBe(range);
  });

  test('is taken from colr before the parameter set', () => {
    expect(pq?.videoRange).toBe('PQ');
    expect(parseInitSegment(writeInitSegment([withColour(pq, 18)]))[0]?.videoRange).toBe('HLG');
  });
});

describe('a track of another kind', () => {
  test('is left out', () => {
    const bytes = writeInitSegment(tracksOf('h264-aac-5'));
    bytes.write('text', bytes.lastIndexOf('soun'), 'latin1');
    expect(parseInitSegment(bytes).map(({ kind }) => kind)).toEqual(['video']);
  });
});

describe('a broken init segment is refused by the name of its box', () => {
  const good = writeInitSegment(tracksOf('h264-aac-5'));

  /** `good` with `bytes` written `offset` bytes after the first byte of the name of its first or last box `type`. */
  function spoiled(type: string, offset: number, bytes: string, last = false): Buffer {
    const copy = Buffer.from(good);
    copy.write(bytes, (last ? copy.lastIndexOf(type) : copy.indexOf(type)) + offset, 'hex');
    return copy;
  }

  test.each([
    ['no moov', box('ftyp'), 'box "file": has no "moov"'],
    ['no track', box('moov'), 'box "moov": no video or audio track'],
    ['a tail', Buffer.concat([box('free'), Buffer.alloc(3)]), 'box "file": 3 extra bytes at its end'],
    ['a cut', good.subarray(0, 200), 'box "moov": size 1132, but "file" has 180 bytes left'],
    ['a small size', spoiled('mdhd', -4, '00000007'), 'box "mdhd": size 7, but "mdia" has 389 bytes left'],
    ['a missing box', spoiled('stbl', 0, '58585858'), 'box "minf": has no "stbl"'],
    ['a strange name', spoiled('trak', 0, '740000ff'), 'box "trex": no track has the id 1'],
    ['timescale 0', spoiled('mdhd', 16, '00000000'), 'box "mdhd": timescale 0'],
    ['track id 0', spoiled('tkhd', 16, '00000000'), 'box "tkhd": track id 0 is 0 or taken'],
    ['track id twice', spoiled('tkhd', 16, '00000001', true), 'box "tkhd": track id 1 is 0 or taken'],
    ['two entries', spoiled('stsd', 8, '00000002'), 'box "stsd": needs one sample entry'],
    ['an unknown entry', spoiled('avc1', 0, '656e6376'), 'box "encv": is not a sample entry that we know'],
    ['no configuration', spoiled('avcC', 0, '78787878'), 'box "avc1": has no "avcC"'],
    ['no width', spoiled('avc1', 28, '0000'), 'box "avc1": picture without width or height'],
    ['a bad descriptor', spoiled('esds', 8, '09'), 'box "esds": descriptor 9 where 3 belongs'],
  ])('%s', (_, bytes, message) => {
    expect(() => parseInitSegment(bytes)).toThrow(
      expect.objectContaining({ code: 'media-malformed', message }),
    );
  });
});
