import { BitReader } from './bit-reader.ts';
import { SEQUENCE_PARAMETER_SET } from './nal-units.ts';
import {
  readTickSeconds,
  skipAvcScalingLists,
  skipExponentials,
  skipHevcScalingLists,
  skipProfileTierLevel,
  skipReferencePictureSets,
} from './parameter-set-syntax.ts';

/** Size in pixels: whole blocks, before cropping. */
export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

const AVC_MACROBLOCK = 16;
/** chroma_format_idc. */
const CHROMA_420 = 1;
const CHROMA_422 = 2;

/** Profiles with chroma format and scaling lists. ITU-T H.264 (08/2021), 7.3.2.1.1. */
const AVC_HIGH_PROFILES = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];

const AVC_BASELINE = 66;
/** pic_order_cnt_type. ITU-T H.264 (08/2021), 8.2.1.3. */
const ORDER_OF_DECODING = 2;

/** Describes the frames of one sequence as players show them. */
export interface VideoParameters {
  /** Size after cropping, before the pixel aspect ratio. */
  readonly size: FrameSize;
  readonly pixelAspect?: readonly [horizontal: number, vertical: number] | undefined;
  readonly colour?: Colour | undefined;
  readonly frameSeconds?: number | undefined;
}

/** ITU-T H.273 codes; 2 is unspecified. */
export interface Colour {
  readonly primaries: number;
  readonly transfer: number;
  readonly matrix: number;
  readonly isFullRange: boolean;
}

/** Reads an SPS with its header byte. ITU-T H.264 (08/2021), 7.3.2.1.1 and E.1.1. */
export function avcParameters(unit: Buffer): VideoParameters | undefined {
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(1)));
  const { width, height, chromaFormat, isFrameOnly } = readAvcFrameSize(bits);
  bits.skip(1);
  const [columns, rows] = readCroppedLines(bits, chromaFormat);
  const size = { width: width - columns, height: height - rows * (isFrameOnly ? 1 : 2) };
  if (bits.isExhausted || size.width <= 0 || size.height <= 0) return undefined;
  if (!bits.flag()) return { size };
  const { pixelAspect, colour } = readUsability(bits);
  if (bits.flag()) skipExponentials(bits, 2);
  const fieldSeconds = readTickSeconds(bits);
  if (bits.isExhausted) return { size };
  return { size, pixelAspect, colour, frameSeconds: fieldSeconds && 2 * fieldSeconds };
}

/**
 * Reads an SPS with its header byte. Equal for those of which a decoder shows pictures of the same size, shape and kind of
 * samples, and unlike any other for a malformed one.
 */
export function avcPictureFormat(unit: Buffer): string {
  const parameters = avcParameters(unit);
  if (parameters === undefined) return `malformed ${unit.toString('hex')}`;
  const { size, pixelAspect: [horizontal, vertical] = [1, 1] } = parameters;
  const samples = avcSampleFormat(unit) ?? { chromaFormat: CHROMA_420, lumaBits: 8, chromaBits: 8 };
  const { chromaFormat, lumaBits, chromaBits } = samples;
  return [unit[1], size.width, size.height, horizontal / vertical, chromaFormat, lumaBits, chromaBits].join();
}

/** Traits of the frames of one sequence, by which programs that decode it describe it. */
interface AvcTraits extends Pick<VideoParameters, 'size' | 'pixelAspect' | 'colour'> {
  /** profile_idc. */
  readonly profile: number;
  /** constraint_set1_flag. */
  readonly isConstrained: boolean;
  /** 4:2:0 with 8 bits. */
  readonly isUsualSampleFormat: boolean;
  readonly isFrameOnly: boolean;
  readonly isFullRange: boolean;
  /** pic_struct_present_flag: SEI messages tell which fields a frame has. */
  readonly hasPictureStructure: boolean;
}

/** Reads an SPS with its header byte. ITU-T H.264 (08/2021), 7.3.2.1.1 and E.1.1. */
export function avcTraits(unit: Buffer): AvcTraits | undefined {
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(1)));
  const format = readAvcFrameSize(bits);
  const { profile, chromaFormat, lumaBits, chromaBits, isFrameOnly } = format;
  bits.skip(1);
  const [columns, rows] = readCroppedLines(bits, chromaFormat);
  const traits = {
    profile,
    isConstrained: (unit[2]! & 0x40) !== 0,
    isUsualSampleFormat: chromaFormat === CHROMA_420 && lumaBits === 8 && chromaBits === 8,
    isFrameOnly,
    size: { width: format.width - columns, height: format.height - rows * (isFrameOnly ? 1 : 2) },
  };
  const usability = bits.flag() ? readAvcUsability(bits) : undefined;
  if (bits.isExhausted) return undefined;
  return { ...traits, isFullRange: false, hasPictureStructure: false, ...usability };
}

/** Reads the number of a sequence or picture parameter set with its header byte. ITU-T H.264 (08/2021), 7.3.2.1.1 and 7.3.2.2. */
export function avcParameterSetId(unit: Buffer): number {
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(1)));
  if ((unit[0]! & 0x1f) === SEQUENCE_PARAMETER_SET) bits.skip(24);
  return bits.expGolomb();
}

/** H.273 code (18 is HLG, 16 is PQ) of an SPS with its header byte. ITU-T H.264 (08/2021), 7.3.2.1.1 and E.1.1. */
export function avcTransfer(unit: Buffer): number | undefined {
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(1)));
  readAvcFrameSize(bits);
  bits.skip(1);
  if (bits.flag()) skipExponentials(bits, 4);
  return usabilityTransfer(bits);
}

/** Reads an SPS with its header byte. */
export function avcFrameSize(unit: Buffer): FrameSize | undefined {
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(1)));
  const { width, height } = readAvcFrameSize(bits);
  return bits.isExhausted ? undefined : { width, height };
}

export interface AvcFieldSyntax {
  /** Length of frame_num in slice headers. */
  readonly frameNumberBits: number;
  readonly hasSeparatePlanes: boolean;
}

/** Reads an SPS with its header byte. Undefined when no frame is coded as two fields. */
export function avcFieldSyntax(unit: Buffer): AvcFieldSyntax | undefined {
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(1)));
  const { isFrameOnly, frameNumberBits, hasSeparatePlanes } = readAvcFrameSize(bits);
  return isFrameOnly || bits.isExhausted || frameNumberBits > 16
    ? undefined
    : { frameNumberBits, hasSeparatePlanes };
}

export interface AvcOrderSyntax extends AvcFieldSyntax {
  readonly codec: 'avc1';
  readonly isFrameOnly: boolean;
  /** Length of pic_order_cnt_lsb in slice headers. */
  readonly orderBits: number;
}

export interface HevcOrderSyntax {
  readonly codec: 'hvc1';
  readonly hasSeparatePlanes: boolean;
  /** Length of slice_pic_order_cnt_lsb in slice headers. */
  readonly orderBits: number;
  /** Syntax by the number of the picture parameter set. */
  readonly ppsSyntax: ReadonlyMap<number, HevcPictureSyntax>;
}

/** Bits of slice headers before the picture order count. */
interface HevcPictureSyntax {
  readonly extraBits: number;
  readonly hasOutputFlag: boolean;
}

/** Frames may be displayed in another order than they are decoded in. */
export interface VideoOrder {
  /** max_num_reorder_frames; undefined where the encoder does not say. */
  readonly maxReordered: number | undefined;
  /** Undefined where the pictures do not tell their order in a way that is read here. */
  readonly syntax: AvcOrderSyntax | HevcOrderSyntax | undefined;
  readonly frameSeconds: number | undefined;
}

/** Reads an SPS with its header byte. ITU-T H.264 (08/2021), 7.3.2.1.1 and E.1.1. */
export function avcOrder(unit: Buffer): VideoOrder | undefined {
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(1)));
  const syntax = readAvcFrameSize(bits);
  bits.skip(1);
  if (bits.flag()) skipExponentials(bits, 4);
  if (bits.isExhausted || syntax.frameNumberBits > 16 || syntax.orderBits > 16) return undefined;
  const usability = bits.flag() ? readAvcReordering(bits) : undefined;
  const isInOrder = syntax.profile === AVC_BASELINE || syntax.orderType === ORDER_OF_DECODING;
  return {
    maxReordered: isInOrder ? 0 : usability?.maxReordered,
    syntax: syntax.orderType === 0 ? { ...syntax, codec: 'avc1' } : undefined,
    frameSeconds: usability?.frameSeconds,
  };
}

/** The usability information, from its start. */
function readAvcReordering(bits: BitReader): Pick<VideoOrder, 'maxReordered' | 'frameSeconds'> {
  const { frameSeconds } = readAvcUsability(bits);
  if (!bits.flag()) return { maxReordered: undefined, frameSeconds };
  bits.skip(1);
  skipExponentials(bits, 4);
  const maxReordered = bits.expGolomb();
  return { maxReordered: bits.isExhausted ? undefined : maxReordered, frameSeconds };
}

/** Reads up to pic_struct_present_flag. */
function readAvcUsability(bits: BitReader) {
  const usability = readUsability(bits);
  if (bits.flag()) skipExponentials(bits, 2);
  const fieldSeconds = readTickSeconds(bits);
  if (fieldSeconds !== undefined) bits.skip(1);
  const hasBuffers = [readHypotheticalDecoder(bits), readHypotheticalDecoder(bits)];
  if (hasBuffers.includes(true)) bits.skip(1);
  const hasPictureStructure = bits.flag();
  return { ...usability, frameSeconds: fieldSeconds && 2 * fieldSeconds, hasPictureStructure };
}

/** Returns false without one. ITU-T H.264 (08/2021), E.1.2. */
function readHypotheticalDecoder(bits: BitReader): boolean {
  if (!bits.flag()) return false;
  const count = bits.expGolomb() + 1;
  bits.skip(8);
  for (let left = Math.min(count, 32); left > 0 && !bits.isExhausted; left--) {
    skipExponentials(bits, 2);
    bits.skip(1);
  }
  bits.skip(20);
  return true;
}

/** Reads an SPS and PPSs with their two header bytes. ITU-T H.265 (08/2021), 7.3.2.2.1 and 7.3.2.3.1. */
export function hevcOrder(unit: Buffer, ppsUnits: readonly Buffer[]): VideoOrder | undefined {
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(2)));
  const { chromaFormat, subLayers, hasSeparatePlanes } = readHevcFrameSize(bits);
  readCroppedLines(bits, chromaFormat);
  skipExponentials(bits, 2);
  const orderBits = bits.expGolomb() + 4;
  let maxReordered = 0;
  for (let left = bits.flag() ? subLayers + 1 : 1; left > 0; left--) {
    bits.expGolomb();
    maxReordered = bits.expGolomb();
    bits.expGolomb();
  }
  if (bits.isExhausted || orderBits > 16) return undefined;
  const ppsSyntax = new Map(ppsUnits.map(readHevcPictureSyntax));
  const syntax = { codec: 'hvc1', hasSeparatePlanes, orderBits, ppsSyntax } as const;
  return { maxReordered, syntax, frameSeconds: undefined };
}

function readHevcPictureSyntax(unit: Buffer): readonly [id: number, HevcPictureSyntax] {
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(2)));
  const id = bits.expGolomb();
  bits.expGolomb();
  bits.skip(1);
  const hasOutputFlag = bits.flag();
  return [id, { hasOutputFlag, extraBits: bits.bits(3) }];
}

/** ITU-T H.264 (08/2021), 7.3.2.1.1. */
function readAvcFrameSize(bits: BitReader) {
  const profile = bits.bits(8);
  bits.skip(16);
  bits.expGolomb();
  let chromaFormat = CHROMA_420;
  let lumaBits = 8;
  let chromaBits = 8;
  let hasSeparatePlanes = false;
  if (AVC_HIGH_PROFILES.includes(profile)) {
    chromaFormat = bits.expGolomb();
    if (chromaFormat === 3) hasSeparatePlanes = bits.flag();
    lumaBits += bits.expGolomb();
    chromaBits += bits.expGolomb();
    bits.skip(1);
    if (bits.flag()) skipAvcScalingLists(bits, chromaFormat === 3 ? 12 : 8);
  }
  const frameNumberBits = bits.expGolomb() + 4;
  const orderType = bits.expGolomb();
  let orderBits = 0;
  if (orderType === 0) {
    orderBits = bits.expGolomb() + 4;
  } else if (orderType === 1) {
    bits.skip(1);
    bits.expGolomb();
    bits.expGolomb();
    skipExponentials(bits, bits.expGolomb());
  }
  bits.expGolomb();
  bits.skip(1);
  const columns = bits.expGolomb() + 1;
  const rows = bits.expGolomb() + 1;
  const isFrameOnly = bits.flag();
  if (!isFrameOnly) bits.skip(1);
  return {
    profile,
    orderType,
    orderBits,
    width: columns * AVC_MACROBLOCK,
    height: rows * AVC_MACROBLOCK * (isFrameOnly ? 1 : 2),
    chromaFormat,
    lumaBits,
    chromaBits,
    isFrameOnly,
    frameNumberBits,
    hasSeparatePlanes,
  };
}

interface SampleFormat {
  /** chroma_format_idc, 0..3. */
  readonly chromaFormat: number;
  /** 8..14. */
  readonly lumaBits: number;
  readonly chromaBits: number;
}

/** Reads an SPS with its header byte. Undefined for profiles that are always 4:2:0 with 8 bits, and if malformed. */
export function avcSampleFormat(unit: Buffer): SampleFormat | undefined {
  if (!AVC_HIGH_PROFILES.includes(unit[1] ?? 0)) return undefined;
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(1)));
  const format = readAvcFrameSize(bits);
  return bits.isExhausted || !isPossible(format) ? undefined : format;
}

interface HevcSequence extends SampleFormat {
  /** general_profile_space to general_level_idc: 12 bytes. */
  readonly profileTierLevel: Buffer;
  /** 1..7. */
  readonly temporalLayers: number;
  readonly isTemporalIdNested: boolean;
}

/** Reads an SPS with its two header bytes. ITU-T H.265 (08/2021), 7.3.2.2.1. */
export function hevcSequence(unit: Buffer): HevcSequence | undefined {
  const plain = withoutEmulationPrevention(unit.subarray(2));
  const bits = new BitReader(plain);
  const { chromaFormat, subLayers } = readHevcFrameSize(bits);
  readCroppedLines(bits, chromaFormat);
  const format = { chromaFormat, lumaBits: 8 + bits.expGolomb(), chromaBits: 8 + bits.expGolomb() };
  if (bits.isExhausted || !isPossible(format)) return undefined;
  return {
    ...format,
    profileTierLevel: plain.subarray(1, 13),
    temporalLayers: subLayers + 1,
    isTemporalIdNested: (plain[0]! & 1) === 1,
  };
}

function isPossible({ chromaFormat, lumaBits, chromaBits }: SampleFormat): boolean {
  return chromaFormat <= 3 && lumaBits <= 14 && chromaBits <= 14;
}

/** Reads the cropping in luma samples: of the columns, and of the rows of one frame or field. */
function readCroppedLines(bits: BitReader, chromaFormat: number): readonly [number, number] {
  if (!bits.flag()) return [0, 0];
  const [left, right, top, bottom] = [bits.expGolomb(), bits.expGolomb(), bits.expGolomb(), bits.expGolomb()];
  const isHalfWidth = chromaFormat === CHROMA_420 || chromaFormat === CHROMA_422;
  return [(left + right) * (isHalfWidth ? 2 : 1), (top + bottom) * (chromaFormat === CHROMA_420 ? 2 : 1)];
}

/** Reads an SPS with its two header bytes. ITU-T H.265 (08/2021), 7.3.2.2.1 and E.2.1. */
export function hevcParameters(unit: Buffer): VideoParameters | undefined {
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(2)));
  const { width, height, chromaFormat, subLayers } = readHevcFrameSize(bits);
  const [columns, rows] = readCroppedLines(bits, chromaFormat);
  const size = { width: width - columns, height: height - rows };
  if (bits.isExhausted || size.width <= 0 || size.height <= 0) return undefined;
  skipToHevcUsability(bits, subLayers);
  if (!bits.flag()) return { size };
  const { pixelAspect, colour } = readUsability(bits);
  if (bits.flag()) skipExponentials(bits, 2);
  bits.skip(3);
  if (bits.flag()) skipExponentials(bits, 4);
  const frameSeconds = readTickSeconds(bits);
  return bits.isExhausted ? { size } : { size, pixelAspect, colour, frameSeconds };
}

/** Reads an SPS with its two header bytes. */
export function hevcTransfer(unit: Buffer): number | undefined {
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(2)));
  const { chromaFormat, subLayers } = readHevcFrameSize(bits);
  readCroppedLines(bits, chromaFormat);
  skipToHevcUsability(bits, subLayers);
  return usabilityTransfer(bits);
}

function skipToHevcUsability(bits: BitReader, subLayers: number): void {
  skipExponentials(bits, 2);
  const orderCountBits = bits.expGolomb() + 4;
  skipExponentials(bits, bits.flag() ? 3 * (subLayers + 1) : 3);
  skipExponentials(bits, 6);
  if (bits.flag() && bits.flag()) skipHevcScalingLists(bits);
  bits.skip(2);
  if (bits.flag()) {
    bits.skip(8);
    skipExponentials(bits, 2);
    bits.skip(1);
  }
  skipReferencePictureSets(bits, bits.expGolomb());
  if (bits.flag()) {
    for (let left = bits.expGolomb(); left > 0 && !bits.isExhausted; left--) bits.skip(orderCountBits + 1);
  }
  bits.skip(2);
}

/** Reads an SPS with its two header bytes. */
export function hevcFrameSize(unit: Buffer): FrameSize | undefined {
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(2)));
  const { width, height } = readHevcFrameSize(bits);
  return bits.isExhausted ? undefined : { width, height };
}

/** ITU-T H.265 (08/2021), 7.3.2.2.1. */
function readHevcFrameSize(bits: BitReader) {
  bits.skip(4);
  const subLayers = bits.bits(3);
  bits.skip(1);
  skipProfileTierLevel(bits, subLayers);
  bits.expGolomb();
  const chromaFormat = bits.expGolomb();
  const hasSeparatePlanes = chromaFormat === 3 && bits.flag();
  return { width: bits.expGolomb(), height: bits.expGolomb(), chromaFormat, subLayers, hasSeparatePlanes };
}

function usabilityTransfer(bits: BitReader): number | undefined {
  if (!bits.flag()) return undefined;
  const { colour } = readUsability(bits);
  return bits.isExhausted ? undefined : colour?.transfer;
}

/** Reads up to the colour description; the codecs have the same fields until there. */
function readUsability(
  bits: BitReader,
): Pick<VideoParameters, 'pixelAspect' | 'colour'> & { readonly isFullRange: boolean } {
  const pixelAspect = bits.flag() ? readPixelAspect(bits) : undefined;
  if (bits.flag()) bits.skip(1);
  if (!bits.flag()) return { pixelAspect, isFullRange: false };
  bits.skip(3);
  const isFullRange = bits.flag();
  if (!bits.flag()) return { pixelAspect, isFullRange };
  const colour = { primaries: bits.bits(8), transfer: bits.bits(8), matrix: bits.bits(8), isFullRange };
  return { pixelAspect, colour, isFullRange };
}

/** Pairs. ITU-T H.264 (08/2021), table E-1; the same in H.265. */
const PIXEL_ASPECTS = [
  1, 1, 12, 11, 10, 11, 16, 11, 40, 33, 24, 11, 20, 11, 32, 11, 80, 33, 18, 11, 15, 11, 64, 33, 160, 99, 4, 3,
  3, 2, 2, 1,
];
const EXTENDED_PIXEL_ASPECT = 255;

function readPixelAspect(bits: BitReader): VideoParameters['pixelAspect'] {
  const code = bits.bits(8);
  const isExtended = code === EXTENDED_PIXEL_ASPECT;
  const horizontal = isExtended ? bits.bits(16) : PIXEL_ASPECTS[2 * code - 2];
  const vertical = isExtended ? bits.bits(16) : PIXEL_ASPECTS[2 * code - 1];
  return horizontal && vertical ? [horizontal, vertical] : undefined;
}

/** The transfer characteristics are within the first few hundred. */
export const maxParameterSetBytes = 4096;

/** ITU-T H.264 (08/2021), 7.4.1. */
export function withoutEmulationPrevention(whole: Buffer, maxBytes = maxParameterSetBytes): Buffer {
  const unit = whole.subarray(0, maxBytes);
  const plain = Buffer.alloc(unit.length);
  let length = 0;
  let zeros = 0;
  for (const byte of unit) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0;
      continue;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
    plain[length++] = byte;
  }
  return plain.subarray(0, length);
}
