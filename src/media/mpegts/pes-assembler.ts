import { UnitScanner } from './unit-scanner.ts';

/** The optional part of a header with its flags, and up to both timestamps. ISO/IEC 13818-1:2019, 2.4.3.6. */
export interface PesHeader {
  /** 0..2^33-1 at 90 kHz. */
  readonly pts: number | undefined;
  /** Decode time as `pts`; undefined where it is the same. */
  readonly dts: number | undefined;
  /** Undefined when the next start ends the packet. */
  readonly dataBytes: number | undefined;
  readonly dataAt: number;
}

const FIXED_BYTES = 9;
/** Map, padding, navigation, ECM, EMM, DSM-CC, type E and directory have no timestamps. */
const STREAMS_WITHOUT_HEADER = [0xbc, 0xbe, 0xbf, 0xf0, 0xf1, 0xf2, 0xf8, 0xff];

/** Undefined when it is malformed or has no media. */
export function readPesHeader(bytes: Buffer): PesHeader | undefined {
  if (bytes.length < FIXED_BYTES || bytes.readUIntBE(0, 3) !== 1) return undefined;
  if (STREAMS_WITHOUT_HEADER.includes(bytes[3]!) || (bytes[6]! & 0xc0) !== 0x80) return undefined;
  const flags = bytes[7]! >> 6;
  const headerBytes = bytes[8]!;
  const packetBytes = bytes.readUInt16BE(4);
  const dataAt = FIXED_BYTES + headerBytes;
  if (packetBytes !== 0 && packetBytes < headerBytes + 3) return undefined;
  const hasPts = flags >= 2 && headerBytes >= 5 && bytes.length >= FIXED_BYTES + 5;
  const hasDts = flags === 3 && hasPts && headerBytes >= 10 && bytes.length >= FIXED_BYTES + 10;
  return {
    pts: hasPts ? readTimestamp(bytes, FIXED_BYTES) : undefined,
    dts: hasDts ? readTimestamp(bytes, FIXED_BYTES + 5) : undefined,
    dataBytes: packetBytes === 0 ? undefined : packetBytes - headerBytes - 3,
    dataAt,
  };
}

function readTimestamp(bytes: Buffer, at: number): number {
  return (
    ((bytes[at]! >> 1) & 7) * 2 ** 30 +
    (bytes.readUInt16BE(at + 1) >> 1) * 2 ** 15 +
    (bytes.readUInt16BE(at + 3) >> 1)
  );
}

const firstBytes = 16 * 1024;
/** Bytes of a packet beyond which it is searched for units while it arrives. */
const maxUnscannedBytes = 32 * 1024;

interface AssembledPes {
  /** Valid until the next start. Begins with the retained bytes. */
  readonly data: Buffer;
  /** NAL units of the data; none without a search for them. */
  readonly units: readonly Buffer[];
}

/** Collects the data of one PES packet at a time in a buffer that it uses again. */
export class PesAssembler {
  readonly #maxBytes: number;
  readonly #scanner: UnitScanner | undefined;
  #buffer = Buffer.alloc(0);
  /** Bytes of earlier packets, in front of the data. */
  #retainedBytes = 0;
  /** Length with the retained bytes. */
  #length = 0;
  /** Bytes of a header that continues in the next transport packet. */
  #skipBytes = 0;
  #dataBytes: number | undefined;
  #isActive = false;

  /** @param maxUnits searches for NAL units, and ignores those that follow */
  constructor(maxBytes: number, maxUnits?: number) {
    this.#maxBytes = maxBytes;
    this.#scanner = maxUnits === undefined ? undefined : new UnitScanner(maxUnits);
  }

  /** True when all data of a packet that declares its length has arrived. */
  get isComplete(): boolean {
    return this.#isActive && this.#dataBytes !== undefined && this.#packetBytes >= this.#dataBytes;
  }

  /** NAL units of the packet that has begun, so far. */
  get units(): readonly Buffer[] {
    if (!this.#isActive) return [];
    this.#scanner?.scan(this.#data);
    return this.#scanner?.units(this.#data) ?? [];
  }

  start({ dataAt, dataBytes }: PesHeader): void {
    if (this.#retainedBytes === 0) {
      this.#length = 0;
      this.#scanner?.reset();
    }
    this.#skipBytes = dataAt;
    this.#dataBytes = dataBytes;
    this.#isActive = true;
  }

  /** False when the packet is larger than the limit, and dropped. */
  add(payload: Buffer): boolean {
    if (!this.#isActive) return true;
    const skipped = Math.min(this.#skipBytes, payload.length);
    this.#skipBytes -= skipped;
    const bytes = Math.min(payload.length - skipped, (this.#dataBytes ?? Infinity) - this.#packetBytes);
    if (this.#packetBytes + bytes > this.#maxBytes) {
      this.drop();
      return false;
    }
    if (this.#length + bytes > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(firstBytes, 2 * (this.#length + bytes)));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    payload.copy(this.#buffer, this.#length, skipped, skipped + bytes);
    this.#length += bytes;
    if (this.#scanner !== undefined && this.#length - this.#scanner.scannedBytes > maxUnscannedBytes) {
      this.#scanner.scan(this.#data);
    }
    return true;
  }

  /** Undefined without a packet that has data. A truncated packet takes the retained bytes with it. */
  take(): AssembledPes | 'truncated' | undefined {
    if (!this.#isActive) return undefined;
    this.#isActive = false;
    if (this.#dataBytes !== undefined && this.#packetBytes < this.#dataBytes) {
      this.#retainedBytes = 0;
      return 'truncated';
    }
    if (this.#packetBytes === 0) return undefined;
    this.#retainedBytes = 0;
    const data = this.#data;
    this.#scanner?.scan(data);
    return { data, units: this.#scanner?.units(data) ?? [] };
  }

  /** Puts the last bytes of the packet that was taken in front of the next one. */
  retain(bytes: number): void {
    const from = this.#length - bytes;
    if (from > 0) this.#buffer.copyWithin(0, from, this.#length);
    this.#scanner?.skip(from);
    this.#length = bytes;
    this.#retainedBytes = bytes;
  }

  /** Forgets the retained bytes, too. False when there was nothing to drop. */
  drop(): boolean {
    const wasActive = this.#isActive;
    this.#isActive = false;
    this.#retainedBytes = 0;
    return wasActive;
  }

  get #data(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  get #packetBytes(): number {
    return this.#length - this.#retainedBytes;
  }
}
