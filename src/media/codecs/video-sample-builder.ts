import { avcConfigRecord, hevcConfigRecord } from './config-record.ts';
import { joinWithLengths } from './nal-units.ts';
import { hasRecoveryPoint } from './sei-messages.ts';

export interface BuiltSample {
  /** Body of avcC or hvcC; undefined when it is that of the sample before. */
  readonly record: Buffer | undefined;
  /** NAL units with 4-byte lengths, without parameter sets, delimiters and filler. */
  readonly data: Buffer;
  readonly isKeyframe: boolean;
}

/** Encoders use one to three of each kind. */
const maxSetsOfKind = 16;
/** Maximum parameter sets of one access unit. Each is compared with the others. */
const maxSetsOfUnit = 64;
const maxSetBytes = 4 * 1024;

/** NAL unit types. ITU-T H.264 (08/2021), table 7-1; ITU-T H.265 (08/2021), table 7-1. */
const unitTypes = {
  avc1: {
    /** The sequence parameter set first. */
    sets: [7, 8, 13],
    /** Access unit delimiter, end of sequence, end of stream, filler. */
    dropped: [9, 10, 11, 12],
    of: (unit: Buffer) => unit[0]! & 0x1f,
    isSlice: (type: number) => type >= 1 && type <= 5,
    isSync: (type: number) => type === 5,
    headerBytes: 1,
  },
  hvc1: {
    sets: [33, 34, 32],
    dropped: [35, 36, 37, 38],
    of: (unit: Buffer) => (unit[0]! >> 1) & 0x3f,
    isSlice: (type: number) => type <= 31,
    isSync: (type: number) => type >= 16 && type <= 23,
    headerBytes: 2,
  },
} as const;
const AVC_SEI = 6;

/** Turns access units of byte streams and RTP into samples, and their parameter sets into configurations. */
export class VideoSampleBuilder {
  readonly #codec: 'avc1' | 'hvc1';
  /** Parameter sets by type. */
  readonly #sets = new Map<number, readonly Buffer[]>();
  #record: Buffer | undefined;
  #isRecordDue = false;

  constructor(codec: 'avc1' | 'hvc1') {
    this.#codec = codec;
  }

  /**
   * Undefined without a picture, or while parameter sets are missing.
   *
   * @param units of one access unit, without start codes and lengths
   */
  build(units: readonly Buffer[]): BuiltSample | undefined {
    const types = unitTypes[this.#codec];
    const kept: Buffer[] = [];
    const sets: Buffer[] = [];
    let hasSlice = false;
    let isSync = false;
    let isRecoveryPoint = false;
    for (const unit of units) {
      if (unit.length <= types.headerBytes) continue;
      const type = types.of(unit);
      if (isOneOf(types.sets, type)) {
        if (unit.length <= maxSetBytes && sets.length < maxSetsOfUnit) sets.push(unit);
        continue;
      }
      if (isOneOf(types.dropped, type)) continue;
      hasSlice ||= types.isSlice(type);
      isSync ||= types.isSync(type);
      isRecoveryPoint ||= this.#codec === 'avc1' && type === AVC_SEI && hasRecoveryPoint(unit);
      kept.push(unit);
    }
    if (sets.length > 0) this.#update(sets);
    if (!hasSlice || this.#record === undefined) return undefined;
    const isKeyframe = isSync || (isRecoveryPoint && sets.length > 0);
    const record = this.#isRecordDue ? this.#record : undefined;
    this.#isRecordDue = false;
    return { record, data: joinWithLengths(kept), isKeyframe };
  }

  /** A sequence parameter set that is new replaces all sets of the kinds that come with it. */
  #update(units: readonly Buffer[]): void {
    const types = unitTypes[this.#codec];
    const known = this.#sets.get(types.sets[0]) ?? [];
    const isNewSequence = units.some(unit => types.of(unit) === types.sets[0] && !contains(known, unit));
    for (const type of types.sets) {
      const merged = isNewSequence ? [] : [...(this.#sets.get(type) ?? [])];
      const ofType = units.filter(unit => types.of(unit) === type);
      if (ofType.length === 0) continue;
      // Copies: units are slices of far larger buffers.
      for (const unit of ofType) if (!contains(merged, unit)) merged.push(Buffer.from(unit));
      this.#sets.set(type, merged.slice(-maxSetsOfKind));
    }
    const record = this.#writeRecord();
    if (record === undefined || this.#record?.equals(record)) return;
    this.#record = record;
    this.#isRecordDue = true;
  }

  #writeRecord(): Buffer | undefined {
    const of = (type: number) => this.#sets.get(type) ?? [];
    return this.#codec === 'avc1'
      ? avcConfigRecord(of(7), of(8), of(13))
      : hevcConfigRecord(of(32), of(33), of(34));
  }
}

function isOneOf(types: readonly number[], type: number): boolean {
  return types.includes(type);
}

function contains(units: readonly Buffer[], unit: Buffer): boolean {
  return units.some(each => each.equals(unit));
}
