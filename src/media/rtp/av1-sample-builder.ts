import { classifyAccessUnit } from '../codecs/access-unit.ts';
import { av1Format } from '../codecs/av1-parameters.ts';
import type { BuiltSample } from '../codecs/video-sample-builder.ts';

/** Flags of the aggregation header. RTP Payload Format For AV1 1.0, 4.4. */
const CONTINUES = 0x80;
const IS_CONTINUED = 0x40;
/** Flags of the OBU header. AV1 specification, 5.3.2. */
const HAS_EXTENSION = 4;
const HAS_SIZE = 2;
const SEQUENCE_HEADER = 1;
/** Temporal delimiters, tile lists and padding, which samples do not have. */
const dropped: readonly number[] = [2, 8, 15];
const maxObus = 4_096;

/** Turns temporal units from RTP into samples, and their sequence headers into configurations. */
export class Av1SampleBuilder {
  #record: Buffer | undefined;

  /** Undefined for malformed payloads, and before the first sequence header. @param payloads all of one temporal unit */
  build(payloads: readonly Buffer[]): BuiltSample | undefined {
    const obus = obusOf(payloads);
    if (obus === undefined || obus.length === 0) return undefined;
    const sequence = obus.find(({ type }) => type === SEQUENCE_HEADER);
    const record = sequence && configRecord(sequence);
    const isNew = record !== undefined && !this.#record?.equals(record);
    if (isNew) this.#record = record;
    if (this.#record === undefined) return undefined;
    const data = Buffer.concat(obus.map(({ bytes }) => bytes));
    const isKeyframe = record !== undefined && classifyAccessUnit('av01', data, 0) === 'sync';
    return { record: isNew ? record : undefined, data, isKeyframe };
  }
}

interface Obu {
  readonly type: number;
  /** The OBU with header and size. */
  readonly bytes: Buffer;
  readonly payload: Buffer;
}

function configRecord({ bytes, payload }: Obu): Buffer | undefined {
  const format = av1Format(payload);
  if (format === undefined) return undefined;
  const { profile, level, tier, isHighBitDepth, isTwelveBit, isMonochrome, subsampling, samplePosition } =
    format;
  const flags =
    (tier << 7) |
    (Number(isHighBitDepth) << 6) |
    (Number(isTwelveBit) << 5) |
    (Number(isMonochrome) << 4) |
    (subsampling[0] << 3) |
    (subsampling[1] << 2) |
    samplePosition;
  return Buffer.concat([Buffer.from([0x81, (profile << 5) | level, flags, 0]), bytes]);
}

function obusOf(payloads: readonly Buffer[]): Obu[] | undefined {
  const obus: Obu[] = [];
  let fragments: Buffer[] = [];
  for (const payload of payloads) {
    if (payload.length === 0) continue;
    const elements = elementsOf(payload);
    const header = payload[0]!;
    if (elements === undefined || ((header & CONTINUES) !== 0) !== fragments.length > 0) return undefined;
    for (const [index, element] of elements.entries()) {
      fragments.push(element);
      if (index === elements.length - 1 && (header & IS_CONTINUED) !== 0) break;
      const obu = withSize(fragments.length === 1 ? element : Buffer.concat(fragments));
      fragments = [];
      if (obu === undefined || obus.length > maxObus) return undefined;
      if (!dropped.includes(obu.type)) obus.push(obu);
    }
  }
  return fragments.length > 0 ? undefined : obus;
}

/** Whole OBUs, or pieces of them at both ends. */
function elementsOf(payload: Buffer): Buffer[] | undefined {
  const count = (payload[0]! >> 4) & 3;
  const elements: Buffer[] = [];
  for (let at = 1; at < payload.length; ) {
    const isLast = count > 0 && elements.length === count - 1;
    const length = isLast ? { value: payload.length - at, next: at } : readLeb128(payload, at);
    if (length === undefined || length.next + length.value > payload.length) return undefined;
    elements.push(payload.subarray(length.next, length.next + length.value));
    if (elements.length > maxObus) return undefined;
    at = length.next + length.value;
  }
  return elements.length > 0 ? elements : undefined;
}

/** Senders leave the size out, and samples have it. */
function withSize(obu: Buffer): Obu | undefined {
  if (obu.length === 0) return undefined;
  const header = obu[0]!;
  const type = (header >> 3) & 0x0f;
  const headerBytes = (header & HAS_EXTENSION) === 0 ? 1 : 2;
  if ((header & HAS_SIZE) !== 0) {
    const size = readLeb128(obu, headerBytes);
    if (size === undefined || size.next + size.value !== obu.length) return undefined;
    return { type, bytes: obu, payload: obu.subarray(size.next) };
  }
  if (obu.length < headerBytes) return undefined;
  const payload = obu.subarray(headerBytes);
  const head = Buffer.from(obu.subarray(0, headerBytes));
  head[0] = header | HAS_SIZE;
  return { type, bytes: Buffer.concat([head, leb128(payload.length), payload]), payload };
}

/** AV1 specification, 4.10.5. */
function readLeb128(
  bytes: Buffer,
  from: number,
): { readonly value: number; readonly next: number } | undefined {
  let value = 0;
  for (let index = 0; index < 5; index++) {
    const byte = bytes[from + index];
    if (byte === undefined) return undefined;
    value += (byte & 0x7f) * 2 ** (7 * index);
    if ((byte & 0x80) === 0) return { value, next: from + index + 1 };
  }
  return undefined;
}

function leb128(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  do {
    bytes.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
    left >>>= 7;
  } while (left > 0);
  return Buffer.from(bytes);
}
