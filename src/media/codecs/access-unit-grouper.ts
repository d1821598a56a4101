import { BitReader } from './bit-reader.ts';
import { type AvcFieldSyntax, avcFieldSyntax } from './parameter-set.ts';

const AVC_SPS = 7;
/** Enough for emulation prevention not to matter: the fields are among the first bytes. */
const sliceHeaderBytes = 16;

interface FieldSlice {
  readonly frameNumber: number;
  readonly isBottom: boolean;
}

/** Groups the NAL units of a byte stream by access unit. Both fields of a frame are one group. */
export class AccessUnitGrouper {
  readonly #codec: 'avc1' | 'hvc1';
  #fieldSyntax: AvcFieldSyntax | undefined;

  constructor(codec: 'avc1' | 'hvc1') {
    this.#codec = codec;
  }

  group(units: readonly Buffer[]): Buffer[][] {
    const groups: Buffer[][] = [];
    let group: Buffer[] = [];
    let hasSlice = false;
    for (const unit of units) {
      if (hasSlice && this.#beginsAccessUnit(unit)) {
        groups.push(group);
        group = [];
        hasSlice = false;
      }
      group.push(unit);
      hasSlice ||= this.#isSlice(unit);
      if (this.#codec === 'avc1' && (unit[0]! & 0x1f) === AVC_SPS) this.#fieldSyntax = avcFieldSyntax(unit);
    }
    if (group.length > 0) groups.push(group);
    return this.#fieldSyntax === undefined || groups.length < 2
      ? groups
      : this.#joinFields(groups, this.#fieldSyntax);
  }

  #isSlice(unit: Buffer): boolean {
    if (this.#codec === 'hvc1') return ((unit[0]! >> 1) & 0x3f) <= 31;
    const type = unit[0]! & 0x1f;
    return type >= 1 && type <= 5;
  }

  /**
   * Tells whether a unit that follows a slice begins an access unit. ITU-T H.264 (08/2021), 7.4.1.2.3; ITU-T H.265
   * (08/2021), 7.4.2.4.4.
   */
  #beginsAccessUnit(unit: Buffer): boolean {
    if (this.#codec === 'hvc1') {
      const type = (unit[0]! >> 1) & 0x3f;
      // first_slice_segment_in_pic_flag of the base layer.
      if (type <= 31) return (unit[2]! & 0x80) !== 0 && (unit[0]! & 1) === 0 && unit[1]! >> 3 === 0;
      return (
        (type >= 32 && type <= 35) || type === 39 || (type >= 41 && type <= 44) || (type >= 48 && type <= 55)
      );
    }
    const type = unit[0]! & 0x1f;
    // first_mb_in_slice is 0.
    if (type >= 1 && type <= 5) return type !== 3 && type !== 4 && (unit[1]! & 0x80) !== 0;
    return (type >= 6 && type <= 9) || (type >= 14 && type <= 18);
  }

  #joinFields(groups: readonly Buffer[][], syntax: AvcFieldSyntax): Buffer[][] {
    const joined: Buffer[][] = [];
    let first: FieldSlice | undefined;
    for (const group of groups) {
      const slice = group.find(unit => this.#isSlice(unit));
      const field = slice && readFieldSlice(slice, syntax);
      const isSecond =
        field !== undefined &&
        first !== undefined &&
        field.isBottom !== first.isBottom &&
        field.frameNumber === first.frameNumber;
      if (isSecond) joined.at(-1)!.push(...group);
      else joined.push(group);
      first = isSecond ? undefined : field;
    }
    return joined;
  }
}

/** Undefined for slices of whole frames. ITU-T H.264 (08/2021), 7.3.3. */
function readFieldSlice(unit: Buffer, syntax: AvcFieldSyntax): FieldSlice | undefined {
  const bits = new BitReader(unit.subarray(1, 1 + sliceHeaderBytes));
  for (let field = 0; field < 3; field++) bits.expGolomb();
  if (syntax.hasSeparatePlanes) bits.skip(2);
  const frameNumber = bits.bits(syntax.frameNumberBits);
  const isField = bits.flag();
  const isBottom = bits.flag();
  return isField && !bits.isExhausted ? { frameNumber, isBottom } : undefined;
}
