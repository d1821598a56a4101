import { avcConfigRecord, hevcConfigRecord } from '../codecs/config-record.ts';
import { hevcParameterSets, readVideoConfig } from '../codecs/frame-sizes.ts';
import { avcParameterSets } from '../codecs/nal-units.ts';
import type { CodecConfig, MediaSample } from './media-sample.ts';

type NalCodec = 'avc1' | 'hvc1';

/** NAL unit types. ITU-T H.264 (08/2021), table 7-1; ITU-T H.265 (08/2021), table 7-1. */
const unitTypes = {
  avc1: {
    sequence: 7,
    sets: [7, 8, 13],
    of: (first: number) => first & 0x1f,
    isSlice: (type: number) => type >= 1 && type <= 5,
  },
  hvc1: {
    sequence: 33,
    sets: [32, 33, 34],
    of: (first: number) => (first >> 1) & 0x3f,
    isSlice: (type: number) => type <= 31,
  },
} as const;
/** Maximum units before the first slice. */
const maxUnits = 64;
const maxSetsOfKind = 16;
const maxSetBytes = 4 * 1024;

/**
 * Turns sequence parameter sets that a frame has, and the configuration has not, into a configuration before the frame.
 * Encoders whose picture changes its size may send them nowhere else.
 */
export class InBandConfig {
  #codec: NalCodec | undefined;
  #lengthBytes = 4;
  #sets: readonly Buffer[] = [];
  /** The last configuration that was sent. */
  #sent: Buffer | undefined;
  #isFromFrame = false;
  /** Repeats what a frame has replaced. The next keyframe tells which one applies. */
  #repeated: CodecConfig | undefined;

  /** Returns the media, and the configuration that belongs before it. @param media of video */
  take(media: MediaSample | CodecConfig): (MediaSample | CodecConfig)[] {
    const codec = media.codec.fourCc;
    if (codec !== 'avc1' && codec !== 'hvc1') return [media];
    if (media.type === 'config') return this.#configure(codec, media);
    const sets = this.#setsOf(codec, media.data);
    const { sequence, of } = unitTypes[codec];
    const sequences = sets.filter(unit => of(unit[0]!) === sequence);
    if (sequences.length === 0) {
      const repeated = media.isKeyframe ? this.#repeated : undefined;
      if (repeated === undefined) return [media];
      this.#adopt(codec, repeated);
      return [repeated, media];
    }
    this.#repeated = undefined;
    if (codec === this.#codec && sequences.every(unit => contains(this.#sets, unit))) return [media];
    const record = this.#writeRecord(codec, sets);
    if (record === undefined) return [media];
    const { kind, trackId } = media;
    const config: CodecConfig = { type: 'config', kind, trackId, codec: media.codec, data: record };
    const sent = this.#sent;
    this.#adopt(codec, config);
    this.#sent = sent;
    this.#isFromFrame = true;
    return [config, media];
  }

  #configure(codec: NalCodec, config: CodecConfig): CodecConfig[] {
    if (this.#isFromFrame && this.#sent?.equals(config.data) === true) {
      this.#repeated = config;
      return [];
    }
    this.#lengthBytes = readVideoConfig(codec, config.data).lengthBytes;
    this.#adopt(codec, config);
    return [config];
  }

  #adopt(codec: NalCodec, { data: record }: CodecConfig): void {
    this.#codec = codec;
    this.#sets = (codec === 'avc1' ? avcParameterSets(record)?.units : hevcParameterSets(record)) ?? [];
    this.#sent = record;
    this.#isFromFrame = false;
    this.#repeated = undefined;
  }

  /** Writes a configuration record. Kinds that the frame lacks keep the sets found so far. */
  #writeRecord(codec: NalCodec, found: readonly Buffer[]): Buffer | undefined {
    const { of } = unitTypes[codec];
    const ofType = (type: number) => {
      const inFrame = found.filter(unit => of(unit[0]!) === type);
      const former = codec === this.#codec ? this.#sets.filter(unit => of(unit[0]!) === type) : [];
      return (inFrame.length > 0 ? inFrame : former).slice(-maxSetsOfKind);
    };
    const record =
      codec === 'avc1'
        ? avcConfigRecord(ofType(7), ofType(8), ofType(13))
        : hevcConfigRecord(ofType(32), ofType(33), ofType(34));
    // The frames keep their length fields.
    const at = codec === 'avc1' ? 4 : 21;
    if (record !== undefined) record[at] = (record[at]! & 0xfc) | (this.#lengthBytes - 1);
    return record;
  }

  #setsOf(codec: NalCodec, payload: Buffer): Buffer[] {
    const { sets, of, isSlice } = unitTypes[codec];
    const found: Buffer[] = [];
    let at = 0;
    for (let count = 0; count < maxUnits && at + this.#lengthBytes < payload.length; count++) {
      const start = at + this.#lengthBytes;
      at = start + payload.readUIntBE(at, this.#lengthBytes);
      if (at > payload.length) break;
      if (at === start) continue;
      const type = of(payload[start]!);
      if (isSlice(type)) break;
      const isSet = (sets as readonly number[]).includes(type);
      if (isSet && at - start <= maxSetBytes) found.push(trimmed(payload.subarray(start, at)));
    }
    return found;
  }
}

function contains(units: readonly Buffer[], unit: Buffer): boolean {
  return units.some(each => trimmed(each).equals(unit));
}

/** Units may have the zeros of a byte stream behind them. */
function trimmed(unit: Buffer): Buffer {
  let end = unit.length;
  while (end > 1 && unit[end - 1] === 0) end -= 1;
  return unit.subarray(0, end);
}
