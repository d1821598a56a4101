import { describe, expect, test } from 'vitest';
import {
  describeAudioTag,
  describeVideoTag,
  flvHeader,
  flvTagEnvelope,
} from '../../../../src/media/flv/flv-tag.ts';

const fourCc = (first: number, name: string) =>
  Buffer.concat([Buffer.of(first), Buffer.from(name), Buffer.of(1, 2)]);

describe('a video tag', () => {
  test.each([
    ['AVC configuration', [0x17, 0, 0, 0, 0, 1], 'H.264', 'config'],
    ['AVC keyframe', [0x17, 1, 0, 0, 0, 1], 'H.264', 'keyframe'],
    ['AVC inter frame', [0x27, 1, 0, 0, 0, 1], 'H.264', 'frame'],
    ['AVC disposable inter frame', [0x37, 1, 0, 0, 0, 1], 'H.264', 'frame'],
    ['AVC end of sequence', [0x17, 2, 0, 0, 0], 'H.264', 'other'],
    ['AVC command frame', [0x57, 1, 0, 0, 0], 'H.264', 'other'],
    ['Sorenson keyframe', [0x12, 0, 0], 'Sorenson H.263', 'keyframe'],
    ['VP6 frame', [0x24, 0, 0], 'VP6', 'frame'],
    ['VP6 with alpha', [0x15, 0, 0], 'VP6 with alpha', 'keyframe'],
    ['Screen video', [0x13, 0], 'Screen video', 'keyframe'],
    ['HEVC in the old form', [0x1c, 0, 0, 0, 0], 'HEVC (without a FourCC)', 'keyframe'],
    ['a codec nobody knows', [0x1e, 0], 'video codec 14', 'keyframe'],
  ])('%s', (_, bytes, name, role) => {
    expect(describeVideoTag(Buffer.from(bytes))).toEqual({ codec: { name, isEnhanced: false }, role });
  });

  test.each([
    ['HEVC sequence start', fourCc(0x90, 'hvc1'), 'HEVC', 'config'],
    ['HEVC keyframe', fourCc(0x91, 'hvc1'), 'HEVC', 'keyframe'],
    ['HEVC frame without composition time', fourCc(0xa3, 'hvc1'), 'HEVC', 'frame'],
    ['HEVC end of sequence', fourCc(0x92, 'hvc1'), 'HEVC', 'other'],
    ['AV1 metadata', fourCc(0x94, 'av01'), 'AV1', 'other'],
    ['AV1 keyframe', fourCc(0x91, 'av01'), 'AV1', 'keyframe'],
    ['H.264 by FourCC', fourCc(0xa1, 'avc1'), 'H.264', 'frame'],
    ['an unknown FourCC', fourCc(0x91, 'x"\n\x00'), 'codec "x\\"\\n\\u0000"', 'keyframe'],
  ])('%s, enhanced', (_, bytes, name, role) => {
    expect(describeVideoTag(bytes)).toEqual({ codec: { name, isEnhanced: true }, role });
  });

  test.each([[[]], [[0x17]], [[0x17, 1, 0, 0]], [[0x90, 0x68, 0x76, 0x63]]])(
    '%j is too short to describe',
    bytes => {
      expect(describeVideoTag(Buffer.from(bytes))).toBeUndefined();
    },
  );
});

describe('an audio tag', () => {
  test.each([
    ['AAC configuration', [0xaf, 0, 0x11, 0x90], 'AAC', 'config'],
    ['AAC frame', [0xaf, 1, 0x21], 'AAC', 'frame'],
    ['MP3', [0x2f, 0xff], 'MP3', 'frame'],
    ['MP3 of 8 kHz', [0xef, 0], 'MP3', 'frame'],
    ['PCM', [0x3e, 0], 'PCM', 'frame'],
    ['PCM of the platform', [0x0e, 0], 'PCM', 'frame'],
    ['Nellymoser', [0x6a, 0], 'Nellymoser', 'frame'],
    ['Nellymoser of 16 kHz', [0x4a, 0], 'Nellymoser', 'frame'],
    ['Nellymoser of 8 kHz', [0x5a, 0], 'Nellymoser', 'frame'],
    ['Speex', [0xb2, 0], 'Speex', 'frame'],
    ['A-law', [0x72, 0], 'G.711 A-law', 'frame'],
    ['mu-law', [0x82, 0], 'G.711 mu-law', 'frame'],
    ['a codec nobody knows', [0xc0, 0], 'audio codec 12', 'frame'],
  ])('%s', (_, bytes, name, role) => {
    expect(describeAudioTag(Buffer.from(bytes))).toEqual({ codec: { name, isEnhanced: false }, role });
  });

  test.each([
    ['Opus sequence start', fourCc(0x90, 'Opus'), 'Opus', 'config'],
    ['Opus frame', fourCc(0x91, 'Opus'), 'Opus', 'frame'],
    ['AC-3 frame', fourCc(0x91, 'ac-3'), 'AC-3', 'frame'],
    ['end of sequence', fourCc(0x92, 'mp4a'), 'AAC', 'other'],
  ])('%s, enhanced', (_, bytes, name, role) => {
    expect(describeAudioTag(bytes)).toEqual({ codec: { name, isEnhanced: true }, role });
  });

  test.each([[[]], [[0xaf]], [[0x90, 0x4f, 0x70]]])('%j is too short to describe', bytes => {
    expect(describeAudioTag(Buffer.from(bytes))).toBeUndefined();
  });
});

describe('tag envelopes', () => {
  test.each([
    [true, true, '464c5601050000000900000000'],
    [true, false, '464c5601040000000900000000'],
    [false, true, '464c5601010000000900000000'],
  ])('the header of audio %s, video %s', (hasAudio, hasVideo, hex) => {
    expect(flvHeader(hasAudio, hasVideo).toString('hex')).toBe(hex);
  });

  test.each([
    ['video', 0, 5, '0900000500000000000000', '00000010'],
    ['audio', 0x123456, 0x010203, '0801020312345600000000', '0001020e'],
    ['video', 0xff000001, 1, '09000001000001ff000000', '0000000c'],
  ] as const)('a %s tag at %i with %i bytes', (kind, atMs, bytes, headHex, tailHex) => {
    const [head, tail] = flvTagEnvelope(kind, atMs, bytes);
    expect([head.toString('hex'), tail.toString('hex')]).toEqual([headHex, tailHex]);
  });
});
