import type { VideoParameters } from '../codecs/parameter-set.ts';
import type { ColorInfo } from '../samples/color-info.ts';
import { ascii, box, fullBox, u8, u16, u32 } from './box-writer.ts';

const UNSPECIFIED = 2;

/** @param config body of the configuration box. ISO/IEC 14496-12:2022, 12.1.3 to 12.1.5 */
export function writeVideoSampleEntry(
  type: 'avc1' | 'hev1' | 'av01' | 'vp08',
  config: Buffer,
  { size, pixelAspect, colour }: VideoParameters,
  declared: ColorInfo = {},
): Buffer {
  const configType = { avc1: 'avcC', hev1: 'hvcC', av01: 'av1C', vp08: 'vpcC' }[type];
  const boxes = [box(configType, config)];
  const codes = colour && [colour.primaries, colour.transfer, colour.matrix];
  const isSpecified = codes?.every(code => code !== UNSPECIFIED) === true;
  const { colour: other } = declared;
  const usedCodes = isSpecified ? codes : other && [other.primaries, other.transfer, other.matrix];
  if (usedCodes !== undefined) {
    boxes.push(box('colr', ascii('nclx'), u16(...usedCodes), u8(colour?.isFullRange ? 0x80 : 0)));
  }
  boxes.push(...lightBoxes(declared));
  if (pixelAspect !== undefined) boxes.push(box('pasp', u32(...pixelAspect)));
  return box(
    type,
    u16(0, 0, 0, 1), // reserved, data reference
    u32(0, 0, 0, 0), // predefined, reserved
    u16(size.width, size.height),
    u32(0x00480000, 0x00480000, 0), // 72 dpi, reserved
    u16(1), // frames per sample
    Buffer.alloc(32), // compressor name
    u16(0x0018, 0xffff), // depth, predefined
    ...boxes,
  );
}

/** ISO/IEC 14496-12:2022, 12.1.6 and 12.1.7, in the units of ITU-T H.265, D.3.28. */
function lightBoxes({ masteringDisplay, contentLight }: ColorInfo): Buffer[] {
  const boxes: Buffer[] = [];
  if (masteringDisplay !== undefined) {
    const { chromaticities, maxLuminance, minLuminance } = masteringDisplay;
    const coordinates = chromaticities.flat().map(value => Math.round(value * 50_000));
    const luminances = [maxLuminance, minLuminance].map(value => Math.round(value * 10_000));
    boxes.push(box('mdcv', u16(...coordinates), u32(...luminances)));
  }
  if (contentLight !== undefined) {
    boxes.push(box('clli', u16(Math.round(contentLight.max), Math.round(contentLight.maxFrameAverage))));
  }
  return boxes;
}

/** ISO/IEC 14496-1:2010, 7.2.6.5. */
export function writeAacSampleEntry(config: Buffer, sampleRate: number, channels: number): Buffer {
  const decoder = descriptor(
    0x04,
    u8(0x40, 0x15, 0, 0, 0), // MPEG-4 audio, audio stream, buffer size
    u32(0, 0), // highest and average bitrate
    descriptor(0x05, config),
  );
  const stream = descriptor(0x03, u16(0), u8(0), decoder, descriptor(0x06, u8(2)));
  return writeAudioSampleEntry('mp4a', { sampleRate, channels }, fullBox('esds', 0, 0, stream));
}

interface AudioFormat {
  readonly sampleRate: number;
  readonly channels: number;
  readonly bitsPerSample?: number;
}

/** ISO/IEC 14496-12:2022, 12.2.3. @param config the whole box */
export function writeAudioSampleEntry(
  type: 'mp4a' | 'Opus' | 'ac-3' | 'ec-3' | 'fLaC',
  { sampleRate, channels, bitsPerSample = 16 }: AudioFormat,
  config: Buffer,
): Buffer {
  return box(
    type,
    u16(0, 0, 0, 1), // reserved, data reference
    u32(0, 0), // reserved
    u16(channels, bitsPerSample, 0, 0), // predefined, reserved
    u32(sampleRate <= 0xffff ? sampleRate * 0x10000 : 0),
    config,
  );
}

/** Writes a descriptor with a length of four bytes. */
function descriptor(tag: number, ...body: readonly Buffer[]): Buffer {
  const bytes = body.reduce((sum, part) => sum + part.length, 0);
  const length = u8(0x80, 0x80 | ((bytes >> 14) & 0x7f), 0x80 | ((bytes >> 7) & 0x7f), bytes & 0x7f);
  return Buffer.concat([u8(tag), length, ...body]);
}
