/** ISO/IEC 13818-1:2019, 2.4.4.11: the program tables have at most 1024 bytes. */
const MAX_SECTION_BYTES = 1024;
const STUFFING = 0xff;
const CRC_POLYNOMIAL = 0x04c11db7;

const crcTable = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 24;
  for (let bit = 0; bit < 8; bit++) crc = (crc << 1) ^ (crc < 0 ? CRC_POLYNOMIAL : 0);
  return crc;
});

/** 0 over a section with its CRC. ISO/IEC 13818-1:2019, annex A. */
export function sectionCrc(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc << 8) ^ crcTable[(crc >>> 24) ^ byte]!;
  return crc >>> 0;
}

/** Reassembles the sections of one PID and passes on those whose CRC is right. */
export class SectionReader {
  readonly #section: (section: Buffer) => void;
  /** Bytes of the section that has begun; empty while waiting for a start. */
  #bytes: Buffer = Buffer.alloc(0);

  constructor(section: (section: Buffer) => void) {
    this.#section = section;
  }

  reset(): void {
    this.#bytes = Buffer.alloc(0);
  }

  push(payload: Buffer, isStart: boolean): void {
    if (!isStart) {
      if (this.#bytes.length > 0) this.#read(Buffer.concat([this.#bytes, payload]));
      return;
    }
    const start = 1 + payload[0]!;
    if (this.#bytes.length > 0) this.#read(Buffer.concat([this.#bytes, payload.subarray(1, start)]));
    this.#read(payload.subarray(start));
  }

  #read(bytes: Buffer): void {
    let at = 0;
    this.reset();
    while (at < bytes.length && bytes[at] !== STUFFING) {
      if (bytes.length - at < 3) break;
      const length = 3 + (bytes.readUInt16BE(at + 1) & 0x0fff);
      if (length > MAX_SECTION_BYTES) return;
      if (bytes.length - at < length) break;
      const section = bytes.subarray(at, at + length);
      if (sectionCrc(section) === 0) this.#section(section);
      at += length;
    }
    if (at < bytes.length && bytes[at] !== STUFFING) this.#bytes = Buffer.from(bytes.subarray(at));
  }
}
