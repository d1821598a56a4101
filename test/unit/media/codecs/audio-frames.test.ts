import { describe, expect, test } from 'vitest';
import { readAc3 } from '../../../../src/media/codecs/ac3.ts';
import { flacFrameSamples, readFlacConfig } from '../../../../src/media/codecs/flac.ts';
import { opusPacketSamples, readOpusHead, stereoOpus } from '../../../../src/media/codecs/opus.ts';
import { Random } from '../../../support/random.ts';

const hex = (text: string) => Buffer.from(text, 'hex');
const fuzzRounds = 3000;

/** Configurations are those that ffmpeg writes for the same frames. */
describe('AC-3 and E-AC-3', () => {
  test.each([
    ['5.1', '0b77b50b1e40ebf8403eff99ff0841fc3f87f0dd5c3e86fb', 1792, 'ac-3', 48_000, 6, '103de0'],
    [
      'mono of 44.1 kHz',
      '0b7738664c402f842be1877b875dfbe7ef9f3e86f9f3e7ef',
      416,
      'ac-3',
      44_100,
      1,
      '5008c0',
    ],
    [
      'enhanced 5.1',
      '0b7701ff3f87c000208020000200400003a81f657e1e0101',
      1024,
      'ec-3',
      48_000,
      6,
      '0800200f00',
    ],
  ] as const)('%s', (_, head, bytes, type, sampleRate, channels, record) => {
    const frame = Buffer.concat([hex(head), Buffer.alloc(bytes - head.length / 2)]);
    expect(readAc3(frame)).toEqual({ type, sampleRate, channels, frameSamples: 1536, record: hex(record) });
  });

  test('an access unit of E-AC-3 may have several frames, and channels of a dependent one', () => {
    const oneBlock = (type: number, words: number, map: string) =>
      // Type, substream 0, size, 48 kHz, one block, 3/2 with low frequencies, identification 16.
      Buffer.concat([
        bitsOf(
          `${'0000101101110111'}${type.toString(2).padStart(2, '0')}000${words.toString(2).padStart(11, '0')}000011111000000000${map}`,
        ),
        Buffer.alloc(40),
      ]).subarray(0, 2 * (words + 1));
    const unit = [0, 1, 2, 3, 4, 5].flatMap(() => [
      oneBlock(0, 15, '0'),
      oneBlock(1, 15, '010000001000000000'),
    ]);
    expect(readAc3(Buffer.concat(unit))).toMatchObject({ type: 'ec-3', frameSamples: 1536, channels: 8 });
  });

  test('what is no frame has no configuration', () => {
    expect(readAc3(Buffer.alloc(0))).toBeUndefined();
    expect(readAc3(hex('0b77b50bfe40ebf8'))).toBeUndefined();
    expect(readAc3(hex('ffffb50b1e40ebf8'))).toBeUndefined();
  });
});

describe('Opus', () => {
  test('the packet tells its duration', () => {
    const samples = [0x00, 0x18, 0x60, 0x68, 0x80, 0xfc].map(toc => opusPacketSamples(Buffer.of(toc)));
    expect(samples).toEqual([480, 2880, 480, 960, 120, 960]);
    expect(opusPacketSamples(Buffer.of(0xfd, 0))).toBe(1920);
    expect(opusPacketSamples(Buffer.of(0xff, 3))).toBe(2880);
    expect(opusPacketSamples(Buffer.of(0xff, 7))).toBeUndefined();
    expect(opusPacketSamples(Buffer.of(0xff))).toBeUndefined();
    expect(opusPacketSamples(Buffer.alloc(0))).toBeUndefined();
  });

  test('the identification header becomes the configuration', () => {
    const head = Buffer.concat([Buffer.from('OpusHead'), hex('01023801803e0000feff00')]);
    expect(readOpusHead(head)).toEqual({ channels: 2, record: hex('0002013800003e80fffe00') });
    const surround = Buffer.concat([
      Buffer.from('OpusHead'),
      hex('0106380180bb0000000001'),
      hex('0402000401020305'),
    ]);
    expect(readOpusHead(surround)).toEqual({
      channels: 6,
      record: hex('000601380000bb800000010402000401020305'),
    });
    expect(stereoOpus()).toEqual({ channels: 2, record: hex('000201380000bb80000000') });
  });

  test.each(['', '4f70757348656164', `4f70757348656164${'01033801803e0000000000'}`])('refuses %j', head => {
    expect(() => readOpusHead(hex(head))).toThrow(/the Opus configuration/);
  });
});

describe('FLAC', () => {
  const info = '1200120000000000 00000bb802f0 00000000 00000000000000000000000000000000'.replaceAll(' ', '');

  test.each([info, `80000022${info}`, `664c614380000022${info}`])('STREAMINFO in %s', config => {
    expect(readFlacConfig(hex(config))).toEqual({
      sampleRate: 48_000,
      channels: 2,
      bitsPerSample: 16,
      frameSamples: 4608,
      record: hex(`80000022${info}`),
    });
  });

  test('the frame header tells the block size', () => {
    expect(flacFrameSamples(hex('fff85a8800374e00'))).toBe(4608);
    expect(flacFrameSamples(hex('fff81a0800374e00'))).toBe(192);
    expect(flacFrameSamples(hex('fff8ca0800374e00'))).toBe(4096);
    expect(flacFrameSamples(hex('fff86a08007f4e00'))).toBe(128);
    expect(flacFrameSamples(hex('fff97a08c28003e700'))).toBe(1000);
    expect(flacFrameSamples(hex('fff80a0800374e00'))).toBeUndefined();
    expect(flacFrameSamples(hex('0000'))).toBeUndefined();
  });

  test.each(['', '664c6143', '8400002200', `80000022${'00'.repeat(34)}`])('refuses %j', config => {
    expect(() => readFlacConfig(hex(config))).toThrow(/the FLAC configuration/);
  });
});

test('random bytes never give an endless or negative duration', () => {
  const random = new Random(16);
  const starts = [
    hex('0b77'),
    hex('fff8'),
    Buffer.from('OpusHead\x01'),
    Buffer.from('fLaC'),
    Buffer.alloc(0),
  ];
  for (let round = 0; round < fuzzRounds; round++) {
    const bytes = Buffer.concat([random.pick(starts), random.bytes(random.below(60))]);
    for (const samples of [readAc3(bytes)?.frameSamples, flacFrameSamples(bytes), opusPacketSamples(bytes)]) {
      expect(samples ?? 1).toBeGreaterThanOrEqual(0);
      expect(samples ?? 1).toBeLessThanOrEqual(2 ** 17);
    }
    for (const read of [readOpusHead, readFlacConfig]) {
      try {
        expect(read(bytes).record.length).toBeLessThan(64);
      } catch (error) {
        expect(error).toMatchObject({ code: 'media-malformed' });
      }
    }
  }
});

function bitsOf(text: string): Buffer {
  const padded = text.padEnd(Math.ceil(text.length / 8) * 8, '0');
  return Buffer.from(padded.match(/.{8}/g)!.map(byte => Number.parseInt(byte, 2)));
}
