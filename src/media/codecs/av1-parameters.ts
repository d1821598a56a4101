import { BitReader } from './bit-reader.ts';
import { type Colour, type FrameSize, maxParameterSetBytes, type VideoParameters } from './parameter-set.ts';

/** Reads a sequence header OBU without its own header and size. AV1 specification, 5.5.1 to 5.5.5. */
export function av1FrameSize(header: Buffer): FrameSize | undefined {
  return av1Parameters(header)?.size;
}

/** Reads a sequence header OBU without its own header and size. */
export function av1Parameters(header: Buffer): VideoParameters | undefined {
  const bits = new BitReader(header.subarray(0, maxParameterSetBytes));
  const profile = bits.bits(3);
  bits.skip(1);
  const isReduced = bits.flag();
  if (isReduced) bits.skip(5);
  else readAv1OperatingPoints(bits);
  const widthBits = bits.bits(4) + 1;
  const heightBits = bits.bits(4) + 1;
  const size = { width: bits.bits(widthBits) + 1, height: bits.bits(heightBits) + 1 };
  if (bits.isExhausted) return undefined;
  if (!isReduced && bits.flag()) bits.skip(7);
  bits.skip(3);
  if (!isReduced) skipAv1Tools(bits);
  bits.skip(3);
  const colour = readAv1Colour(bits, profile);
  return bits.isExhausted ? { size } : { size, colour };
}

/** Fields of the body of av1C. AV1 in ISOBMFF 1.2.0, 2.3.3. */
interface Av1Format {
  readonly profile: number;
  readonly level: number;
  readonly tier: number;
  readonly isHighBitDepth: boolean;
  readonly isTwelveBit: boolean;
  readonly isMonochrome: boolean;
  /** Subsampling in both directions, 1 where chroma has half the resolution. */
  readonly subsampling: readonly [number, number];
  readonly samplePosition: number;
}

/** Reads a sequence header OBU without its own header and size. */
export function av1Format(header: Buffer): Av1Format | undefined {
  const bits = new BitReader(header.subarray(0, maxParameterSetBytes));
  const profile = bits.bits(3);
  bits.skip(1);
  const isReduced = bits.flag();
  const { level, tier } = isReduced ? { level: bits.bits(5), tier: 0 } : readAv1OperatingPoints(bits);
  const widthBits = bits.bits(4) + 1;
  const heightBits = bits.bits(4) + 1;
  bits.skip(widthBits + heightBits);
  if (!isReduced && bits.flag()) bits.skip(7);
  bits.skip(3);
  if (!isReduced) skipAv1Tools(bits);
  bits.skip(3);
  const format = readAv1ColourFormat(bits, profile);
  return bits.isExhausted ? undefined : { profile, level, tier, ...format };
}

/** AV1 specification, 5.5.2. */
function readAv1ColourFormat(
  bits: BitReader,
  profile: number,
): Omit<Av1Format, 'profile' | 'level' | 'tier'> {
  const isHighBitDepth = bits.flag();
  const isTwelveBit = profile === 2 && isHighBitDepth && bits.flag();
  const isMonochrome = profile !== 1 && bits.flag();
  const [primaries, transfer, matrix] = bits.flag() ? [bits.bits(8), bits.bits(8), bits.bits(8)] : [2, 2, 2];
  const depth = { isHighBitDepth, isTwelveBit, isMonochrome };
  bits.skip(isMonochrome || !isSrgb(primaries, transfer, matrix) ? 1 : 0);
  if (isMonochrome) return { ...depth, subsampling: [1, 1], samplePosition: 0 };
  const subsampling = isSrgb(primaries, transfer, matrix)
    ? ([0, 0] as const)
    : readAv1Subsampling(bits, profile, isTwelveBit);
  const isBoth = subsampling[0] === 1 && subsampling[1] === 1;
  return { ...depth, subsampling, samplePosition: isBoth ? bits.bits(2) : 0 };
}

function isSrgb(primaries: number, transfer: number, matrix: number): boolean {
  return primaries === 1 && transfer === 13 && matrix === 0;
}

function readAv1Subsampling(
  bits: BitReader,
  profile: number,
  isTwelveBit: boolean,
): readonly [number, number] {
  if (profile === 0) return [1, 1];
  if (profile === 1) return [0, 0];
  if (!isTwelveBit) return [1, 0];
  const horizontal = bits.bits(1);
  return [horizontal, horizontal === 1 ? bits.bits(1) : 0];
}

/** Skips the fields from enable_interintra_compound to order_hint_bits_minus_1. */
function skipAv1Tools(bits: BitReader): void {
  bits.skip(4);
  const hasOrderHint = bits.flag();
  if (hasOrderHint) bits.skip(2);
  const canForceScreenContent = bits.flag() || bits.flag();
  if (canForceScreenContent && !bits.flag()) bits.skip(1);
  if (hasOrderHint) bits.skip(3);
}

/** AV1 specification, 5.5.2. */
function readAv1Colour(bits: BitReader, profile: number): Colour | undefined {
  const isHighBitDepth = bits.flag();
  if (profile === 2 && isHighBitDepth) bits.skip(1);
  if (profile !== 1) bits.skip(1);
  if (!bits.flag()) return undefined;
  return {
    primaries: bits.bits(8),
    transfer: bits.bits(8),
    matrix: bits.bits(8),
    isFullRange: bits.flag(),
  };
}

/** Returns level and tier of the first one, which is the whole sequence. */
function readAv1OperatingPoints(bits: BitReader): { readonly level: number; readonly tier: number } {
  let delayBits: number | undefined;
  if (bits.flag()) {
    bits.skip(64);
    if (bits.flag()) bits.expGolomb();
    if (bits.flag()) {
      delayBits = bits.bits(5) + 1;
      bits.skip(42);
    }
  }
  const hasDisplayDelay = bits.flag();
  let first: { readonly level: number; readonly tier: number } | undefined;
  for (let left = bits.bits(5) + 1; left > 0; left--) {
    bits.skip(12);
    const level = bits.bits(5);
    const tier = level > 7 ? bits.bits(1) : 0;
    first ??= { level, tier };
    if (delayBits !== undefined && bits.flag()) bits.skip(2 * delayBits + 1);
    if (hasDisplayDelay && bits.flag()) bits.skip(4);
  }
  return first!;
}
