import { BitReader } from './bit-reader.ts';

/** In pixels: whole blocks, before cropping. */
export interface FrameSize {
  readonly width: number;
  readonly height: number;
}

const AVC_MACROBLOCK = 16;

/** Profiles with chroma format and scaling lists. ITU-T H.264 (08/2021), 7.3.2.1.1. */
const AVC_HIGH_PROFILES = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];

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
  const size = readAvcFrameSize(bits);
  return bits.isExhausted ? undefined : size;
}

/** ITU-T H.264 (08/2021), 7.3.2.1.1. */
function readAvcFrameSize(bits: BitReader): FrameSize {
  const profile = bits.bits(8);
  bits.skip(16);
  bits.expGolomb();
  if (AVC_HIGH_PROFILES.includes(profile)) {
    const chromaFormat = bits.expGolomb();
    if (chromaFormat === 3) bits.skip(1);
    bits.expGolomb();
    bits.expGolomb();
    bits.skip(1);
    if (bits.flag()) skipAvcScalingLists(bits, chromaFormat === 3 ? 12 : 8);
  }
  bits.expGolomb();
  const orderType = bits.expGolomb();
  if (orderType === 0) {
    bits.expGolomb();
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
  return { width: columns * AVC_MACROBLOCK, height: rows * AVC_MACROBLOCK * (isFrameOnly ? 1 : 2) };
}

/** Reads an SPS with its two header bytes. ITU-T H.265 (08/2021), 7.3.2.2.1 and E.2.1. */
export function hevcTransfer(unit: Buffer): number | undefined {
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(2)));
  const { subLayers } = readHevcFrameSize(bits);
  if (bits.flag()) skipExponentials(bits, 4);
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
  return usabilityTransfer(bits);
}

/** Reads an SPS with its two header bytes. */
export function hevcFrameSize(unit: Buffer): FrameSize | undefined {
  const bits = new BitReader(withoutEmulationPrevention(unit.subarray(2)));
  const { width, height } = readHevcFrameSize(bits);
  return bits.isExhausted ? undefined : { width, height };
}

/** ITU-T H.265 (08/2021), 7.3.2.2.1. */
function readHevcFrameSize(bits: BitReader): FrameSize & { readonly subLayers: number } {
  bits.skip(4);
  const subLayers = bits.bits(3);
  bits.skip(1);
  skipProfileTierLevel(bits, subLayers);
  bits.expGolomb();
  if (bits.expGolomb() === 3) bits.skip(1);
  return { width: bits.expGolomb(), height: bits.expGolomb(), subLayers };
}

/** Reads a sequence header OBU without its own header and size. AV1 specification, 5.5.1 to 5.5.5. */
export function av1FrameSize(header: Buffer): FrameSize | undefined {
  const bits = new BitReader(header.subarray(0, MAX_PARAMETER_SET_BYTES));
  bits.skip(4);
  const isReduced = bits.flag();
  if (isReduced) bits.skip(5);
  else skipAv1OperatingPoints(bits);
  const widthBits = bits.bits(4) + 1;
  const heightBits = bits.bits(4) + 1;
  const size = { width: bits.bits(widthBits) + 1, height: bits.bits(heightBits) + 1 };
  return bits.isExhausted ? undefined : size;
}

function skipAv1OperatingPoints(bits: BitReader): void {
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
  for (let left = bits.bits(5) + 1; left > 0; left--) {
    bits.skip(12);
    if (bits.bits(5) > 7) bits.skip(1);
    if (delayBits !== undefined && bits.flag()) bits.skip(2 * delayBits + 1);
    if (hasDisplayDelay && bits.flag()) bits.skip(4);
  }
}

function usabilityTransfer(bits: BitReader): number | undefined {
  if (!bits.flag()) return undefined;
  if (bits.flag() && bits.bits(8) === 255) bits.skip(32);
  if (bits.flag()) bits.skip(1);
  if (!bits.flag()) return undefined;
  bits.skip(4);
  if (!bits.flag()) return undefined;
  bits.skip(8);
  const transfer = bits.bits(8);
  return bits.isExhausted ? undefined : transfer;
}

function skipExponentials(bits: BitReader, count: number): void {
  for (let left = count; left > 0 && !bits.isExhausted; left--) bits.expGolomb();
}

/** ITU-T H.264 (08/2021), 7.3.2.1.1.1. */
function skipAvcScalingLists(bits: BitReader, lists: number): void {
  for (let list = 0; list < lists; list++) {
    if (!bits.flag()) continue;
    let last = 8;
    let next = 8;
    for (let left = list < 6 ? 16 : 64; left > 0; left--) {
      if (next !== 0) next = (last + bits.signedExpGolomb() + 256) % 256;
      if (next !== 0) last = next;
    }
  }
}

/** ITU-T H.265 (08/2021), 7.3.3. */
function skipProfileTierLevel(bits: BitReader, subLayers: number): void {
  bits.skip(96);
  const presence = Array.from({ length: subLayers }, () => ({ profile: bits.flag(), level: bits.flag() }));
  if (subLayers > 0) bits.skip(2 * (8 - subLayers));
  for (const { profile, level } of presence) bits.skip((profile ? 88 : 0) + (level ? 8 : 0));
}

/** ITU-T H.265 (08/2021), 7.3.4. */
function skipHevcScalingLists(bits: BitReader): void {
  for (let size = 0; size < 4; size++) {
    for (let matrix = 0; matrix < 6; matrix += size === 3 ? 3 : 1) {
      if (bits.flag()) skipExponentials(bits, Math.min(64, 16 << (2 * size)) + (size > 1 ? 1 : 0));
      else bits.expGolomb();
    }
  }
}

/** ITU-T H.265 (08/2021), 7.3.7. */
function skipReferencePictureSets(bits: BitReader, count: number): void {
  let previous = 0;
  for (let index = 0; index < count && !bits.isExhausted; index++) {
    let references = 0;
    if (index > 0 && bits.flag()) {
      bits.skip(1);
      bits.expGolomb();
      for (let left = previous + 1; left > 0 && !bits.isExhausted; left--) {
        if (bits.flag() || bits.flag()) references += 1;
      }
    } else {
      references = bits.expGolomb() + bits.expGolomb();
      for (let left = references; left > 0 && !bits.isExhausted; left--) {
        bits.expGolomb();
        bits.skip(1);
      }
    }
    previous = references;
  }
}

/** The transfer characteristics are within the first few hundred. */
const MAX_PARAMETER_SET_BYTES = 4096;

/** ITU-T H.264 (08/2021), 7.4.1. */
function withoutEmulationPrevention(whole: Buffer): Buffer {
  const unit = whole.subarray(0, MAX_PARAMETER_SET_BYTES);
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
