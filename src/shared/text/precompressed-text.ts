import { createHash } from 'node:crypto';
import { constants, crc32, deflateRawSync, gunzipSync } from 'node:zlib';
import type { CompressedText } from './rendered-text.ts';

export interface DeflatedBlock {
  /** Raw deflate blocks that end on a byte boundary, none of them final. */
  readonly deflated: Buffer;
  readonly bytes: number;
  readonly crc: number;
  /** Factor for the checksum of everything before the block. */
  readonly shift: number;
}

export function deflateBlock(text: string): DeflatedBlock {
  const block = deflateRaw(Buffer.from(text), constants.Z_SYNC_FLUSH, 9);
  // Copies: zlib returns a slice of a larger buffer, which would stay in memory.
  const deflated = Buffer.allocUnsafeSlow(block.deflated.length);
  block.deflated.copy(deflated);
  return { ...block, deflated };
}

/**
 * Assembles a gzipped text of precompressed blocks. Makes one gzip member, since browsers ignore a second
 * one; combines checksums as zlib's `crc32_combine`.
 *
 * **Source**: RFC 1951, 3.2.3 (blocks); RFC 1952, 2.3 (member format)
 */
export class PrecompressedText implements CompressedText {
  readonly gzip: Buffer;
  readonly etag: string;
  #plain: Buffer | undefined;

  constructor(before: string, blocks: readonly DeflatedBlock[], after: string) {
    const first = deflateRaw(Buffer.from(before), constants.Z_SYNC_FLUSH, 6);
    const last = deflateRaw(Buffer.from(after), constants.Z_FINISH, 6);
    let crc = 0;
    let bytes = 0;
    const pieces: Buffer[] = [gzipHeader];
    for (const block of [first, ...blocks, last]) {
      crc = (multiply(block.shift, crc) ^ block.crc) >>> 0;
      bytes += block.bytes;
      pieces.push(block.deflated);
    }
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc, 0);
    trailer.writeUInt32LE(bytes % 2 ** 32, 4);
    pieces.push(trailer);
    this.gzip = Buffer.concat(pieces);
    this.etag = `"${createHash('sha1').update(this.gzip).digest('base64url')}"`;
  }

  get plain(): Buffer {
    this.#plain ??= gunzipSync(this.gzip);
    return this.#plain;
  }
}

/** Deflate, no name, no time, Unix. */
const gzipHeader = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]);

function deflateRaw(plain: Buffer, finishFlush: number, level: number): DeflatedBlock {
  return {
    deflated: deflateRawSync(plain, { finishFlush, level }),
    bytes: plain.length,
    crc: crc32(plain),
    shift: powerOfX(plain.length * 8),
  };
}

/** CRC-32, lowest power in the highest bit. */
const polynomial = 0xedb88320;

/** Multiplies polynomials over bits, modulo that of CRC-32. */
function multiply(one: number, other: number): number {
  let product = 0;
  let shifted = other;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((one & bit) !== 0) product ^= shifted;
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ polynomial;
  }
  return product >>> 0;
}

/** Returns x to the power of `exponent`, modulo the polynomial. */
function powerOfX(exponent: number): number {
  let power = 0x80000000;
  let square = 0x40000000;
  for (let rest = exponent; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) power = multiply(square, power);
    square = multiply(square, square);
  }
  return power;
}
