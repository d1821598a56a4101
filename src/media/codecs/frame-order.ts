import { BitReader } from './bit-reader.ts';
import { type AvcOrderSyntax, withoutEmulationPrevention } from './parameter-set.ts';

/** NAL unit types. ITU-T H.264 (08/2021), table 7-1. */
const SLICE = 1;
const IDR_SLICE = 5;
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

/** Reads picture order counts of type 0. ITU-T H.264 (08/2021), 8.2.1.1. */
export class AvcFrameOrder {
  readonly #syntax: AvcOrderSyntax;
  /** Picture order count of the previous reference picture. */
  #former = { most: 0, least: 0 };

  constructor(syntax: AvcOrderSyntax) {
    this.#syntax = syntax;
  }

  /** Undefined for a frame without a slice that can be read. @param frame NAL units with 4-byte lengths, in decoding order */
  next(frame: Buffer): FrameOrder | undefined {
    const unit = firstSlice(frame);
    if (unit === undefined) return undefined;
    const isIdr = (unit[0]! & 0x1f) === IDR_SLICE;
    const least = this.#readLeast(unit, isIdr);
    if (least === undefined) return undefined;
    const size = 2 ** this.#syntax.orderBits;
    const former = isIdr ? { most: 0, least: 0 } : this.#former;
    let { most } = former;
    if (least < former.least && former.least - least >= size / 2) most += size;
    else if (least > former.least && least - former.least > size / 2) most -= size;
    const isReference = (unit[0]! & 0x60) !== 0;
    if (isReference) this.#former = { most, least };
    return { order: most + least, isIdr };
  }

  /** pic_order_cnt_lsb. ITU-T H.264 (08/2021), 7.3.3. */
  #readLeast(unit: Buffer, isIdr: boolean): number | undefined {
    const { frameNumberBits, hasSeparatePlanes, isFrameOnly, orderBits } = this.#syntax;
    const bits = new BitReader(withoutEmulationPrevention(unit.subarray(1, maxHeaderBytes)));
    bits.expGolomb();
    bits.expGolomb();
    bits.expGolomb();
    if (hasSeparatePlanes) bits.skip(2);
    bits.skip(frameNumberBits);
    if (!isFrameOnly && bits.flag()) bits.skip(1);
    if (isIdr) bits.expGolomb();
    const least = bits.bits(orderBits);
    return bits.isExhausted ? undefined : least;
  }
}

function firstSlice(frame: Buffer): Buffer | undefined {
  let at = 0;
  for (let units = 0; units < maxUnits && at + lengthBytes < frame.length; units++) {
    const end = at + lengthBytes + frame.readUInt32BE(at);
    const unit = frame.subarray(at + lengthBytes, end);
    const type = (unit[0] ?? 0) & 0x1f;
    if (type === SLICE || type === IDR_SLICE) return unit;
    at = end;
  }
  return undefined;
}
