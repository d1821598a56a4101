import { BitReader } from './bit-reader.ts';
import {
  type AvcOrderSyntax,
  type HevcOrderSyntax,
  type VideoOrder,
  withoutEmulationPrevention,
} from './parameter-set.ts';

/** NAL unit types. ITU-T H.264 (08/2021), table 7-1. */
const SLICE = 1;
const IDR_SLICE = 5;
/** NAL unit types. ITU-T H.265 (08/2021), table 7-1. */
const RADL_N = 6;
const RASL_R = 9;
const MAX_SUBLAYER_NON_REFERENCE = 14;
const FIRST_RANDOM_ACCESS = 16;
const MAX_BROKEN_LINK = 18;
const IDR_W_RADL = 19;
const IDR_N_LP = 20;
const MAX_RANDOM_ACCESS = 23;
const MAX_SLICE = 31;
const lengthBytes = 4;
/** Maximum length of a slice header, up to the picture order count. */
const maxHeaderBytes = 32;
/** Units before the first slice. */
const maxUnits = 64;

export interface FrameOrder {
  /** Position in the order of display, since the IDR picture. Most encoders count in steps of two. */
  readonly order: number;
  readonly isIdr: boolean;
}

/** Reads the order of frames in decoding order. */
export interface FrameOrderReader {
  /** Undefined for a frame without a slice that can be read. @param frame NAL units with 4-byte lengths */
  next(frame: Buffer): FrameOrder | undefined;
}

export function frameOrderReader(syntax: NonNullable<VideoOrder['syntax']>): FrameOrderReader {
  return syntax.codec === 'avc1' ? new AvcFrameOrder(syntax) : new HevcFrameOrder(syntax);
}

/** Picture order count of a reference picture, in two parts. */
interface OrderCount {
  readonly highBits: number;
  readonly lowBits: number;
}

/** Reads picture order counts of type 0. ITU-T H.264 (08/2021), 8.2.1.1. */
class AvcFrameOrder implements FrameOrderReader {
  readonly #syntax: AvcOrderSyntax;
  #former: OrderCount = { highBits: 0, lowBits: 0 };

  constructor(syntax: AvcOrderSyntax) {
    this.#syntax = syntax;
  }

  next(frame: Buffer): FrameOrder | undefined {
    const unit = firstSlice(frame, first => [SLICE, IDR_SLICE].includes(first & 0x1f));
    if (unit === undefined) return undefined;
    const isIdr = (unit[0]! & 0x1f) === IDR_SLICE;
    const lowBits = this.#readLowBits(unit, isIdr);
    if (lowBits === undefined) return undefined;
    const former = isIdr ? { highBits: 0, lowBits: 0 } : this.#former;
    const highBits = highBitsAfter(former, lowBits, this.#syntax.orderBits);
    const isReference = (unit[0]! & 0x60) !== 0;
    if (isReference) this.#former = { highBits, lowBits };
    return { order: highBits + lowBits, isIdr };
  }

  /** pic_order_cnt_lsb. ITU-T H.264 (08/2021), 7.3.3. */
  #readLowBits(unit: Buffer, isIdr: boolean): number | undefined {
    const { frameNumberBits, hasSeparatePlanes, isFrameOnly, orderBits } = this.#syntax;
    const bits = new BitReader(withoutEmulationPrevention(unit.subarray(1, maxHeaderBytes)));
    bits.expGolomb();
    bits.expGolomb();
    bits.expGolomb();
    if (hasSeparatePlanes) bits.skip(2);
    bits.skip(frameNumberBits);
    if (!isFrameOnly && bits.flag()) bits.skip(1);
    if (isIdr) bits.expGolomb();
    const lowBits = bits.bits(orderBits);
    return bits.isExhausted ? undefined : lowBits;
  }
}

/** Reads picture order counts. ITU-T H.265 (08/2021), 8.3.1. */
class HevcFrameOrder implements FrameOrderReader {
  readonly #syntax: HevcOrderSyntax;
  #former: OrderCount | undefined;

  constructor(syntax: HevcOrderSyntax) {
    this.#syntax = syntax;
  }

  next(frame: Buffer): FrameOrder | undefined {
    const unit = firstSlice(frame, first => typeOfHevc(first) <= MAX_SLICE);
    if (unit === undefined) return undefined;
    const type = typeOfHevc(unit[0]!);
    const isIdr = type === IDR_W_RADL || type === IDR_N_LP;
    const lowBits = isIdr ? 0 : this.#readLowBits(unit, type);
    if (lowBits === undefined) return undefined;
    const isBrokenLink = type >= FIRST_RANDOM_ACCESS && type <= MAX_BROKEN_LINK;
    const begins = isIdr || isBrokenLink || this.#former === undefined;
    const highBits = begins ? 0 : highBitsAfter(this.#former!, lowBits, this.#syntax.orderBits);
    const isLeading = type >= RADL_N && type <= RASL_R;
    const isReference = !isLeading && (type > MAX_SUBLAYER_NON_REFERENCE || type % 2 === 1);
    const isLowestLayer = (unit[1]! & 7) === 1;
    if (isReference && isLowestLayer) this.#former = { highBits, lowBits };
    return { order: highBits + lowBits, isIdr: begins };
  }

  /** slice_pic_order_cnt_lsb of the first slice of a picture. ITU-T H.265 (08/2021), 7.3.6.1. */
  #readLowBits(unit: Buffer, type: number): number | undefined {
    const { hasSeparatePlanes, orderBits, ppsSyntax } = this.#syntax;
    const bits = new BitReader(withoutEmulationPrevention(unit.subarray(2, maxHeaderBytes)));
    if (!bits.flag()) return undefined;
    if (type >= FIRST_RANDOM_ACCESS && type <= MAX_RANDOM_ACCESS) bits.skip(1);
    const pps = ppsSyntax.get(bits.expGolomb());
    if (pps === undefined) return undefined;
    bits.skip(pps.extraBits);
    bits.expGolomb();
    if (pps.hasOutputFlag) bits.skip(1);
    if (hasSeparatePlanes) bits.skip(2);
    const lowBits = bits.bits(orderBits);
    return bits.isExhausted ? undefined : lowBits;
  }
}

function typeOfHevc(first: number): number {
  return (first >> 1) & 0x3f;
}

/** The most significant part, from the picture before: both standards count alike. */
function highBitsAfter(former: OrderCount, lowBits: number, orderBits: number): number {
  const size = 2 ** orderBits;
  if (lowBits < former.lowBits && former.lowBits - lowBits >= size / 2) return former.highBits + size;
  if (lowBits > former.lowBits && lowBits - former.lowBits > size / 2) return former.highBits - size;
  return former.highBits;
}

function firstSlice(frame: Buffer, isSlice: (first: number) => boolean): Buffer | undefined {
  let at = 0;
  for (let units = 0; units < maxUnits && at + lengthBytes < frame.length; units++) {
    const end = at + lengthBytes + frame.readUInt32BE(at);
    const unit = frame.subarray(at + lengthBytes, end);
    if (unit.length > 1 && isSlice(unit[0]!)) return unit;
    at = end;
  }
  return undefined;
}
