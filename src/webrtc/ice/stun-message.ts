import { createHmac, timingSafeEqual } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { crc32 } from 'node:zlib';

/** RFC 8489, 5. */
const HEADER_BYTES = 20;
/** Messages fit one datagram of any network. */
const maxBytes = 2_048;
const MAGIC_COOKIE = 0x2112a442;
const FINGERPRINT_XOR = 0x5354554e;
const INTEGRITY_BYTES = 20;

export const STUN_TYPE = { request: 0x0001, indication: 0x0011, success: 0x0101, error: 0x0111 } as const;

export const STUN_ATTRIBUTE = {
  username: 0x0006,
  messageIntegrity: 0x0008,
  errorCode: 0x0009,
  xorMappedAddress: 0x0020,
  software: 0x8022,
  priority: 0x0024,
  useCandidate: 0x0025,
  fingerprint: 0x8028,
  iceControlled: 0x8029,
} as const;

interface StunAddress {
  readonly address: string;
  readonly port: number;
}

/** Views of the packet it was read from. */
export interface StunMessage {
  readonly bytes: Buffer;
  readonly type: number;
  /** 12 bytes. */
  readonly transactionId: Buffer;
  /** Attributes: the first of each kind; those after MESSAGE-INTEGRITY, except FINGERPRINT, are left out. */
  readonly attributes: ReadonlyMap<number, Buffer>;
  /** Offset of the header of MESSAGE-INTEGRITY. */
  readonly integrityAt: number | undefined;
}

interface StunAttribute {
  readonly type: number;
  readonly value: Buffer;
}

/** Returns undefined for anything malformed, and for a wrong FINGERPRINT. */
export function parseStun(bytes: Buffer): StunMessage | undefined {
  if (
    bytes.length < HEADER_BYTES ||
    bytes.length > maxBytes ||
    bytes[0]! > 3 ||
    bytes.readUInt32BE(4) !== MAGIC_COOKIE
  )
    return undefined;
  const length = bytes.readUInt16BE(2);
  if (length % 4 !== 0 || length !== bytes.length - HEADER_BYTES) return undefined;
  const attributes = new Map<number, Buffer>();
  let integrityAt: number | undefined;
  for (let at = HEADER_BYTES; at < bytes.length; ) {
    const type = bytes.readUInt16BE(at);
    const valueAt = at + 4;
    const end = valueAt + bytes.readUInt16BE(at + 2);
    if (end > bytes.length) return undefined;
    const isFingerprint = type === STUN_ATTRIBUTE.fingerprint;
    if (isFingerprint && !hasFingerprint(bytes, at, end)) return undefined;
    if (integrityAt === undefined || isFingerprint) {
      if (!attributes.has(type)) attributes.set(type, bytes.subarray(valueAt, end));
      if (type === STUN_ATTRIBUTE.messageIntegrity && end - valueAt === INTEGRITY_BYTES) integrityAt = at;
    }
    at = valueAt + padded(end - valueAt);
  }
  return {
    bytes,
    type: bytes.readUInt16BE(0),
    transactionId: bytes.subarray(8, HEADER_BYTES),
    attributes,
    integrityAt,
  };
}

/** Checks MESSAGE-INTEGRITY with a short-term credential. RFC 8489, 14.5. */
export function hasIntegrity({ bytes, integrityAt }: StunMessage, password: string): boolean {
  if (integrityAt === undefined) return false;
  const expected = integrityOf(bytes.subarray(0, integrityAt), password);
  return timingSafeEqual(expected, bytes.subarray(integrityAt + 4, integrityAt + 4 + INTEGRITY_BYTES));
}

/** Adds FINGERPRINT, and MESSAGE-INTEGRITY with a password. */
export function writeStun(
  type: number,
  transactionId: Buffer,
  attributes: readonly StunAttribute[],
  password?: string,
): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(type, 0);
  header.writeUInt32BE(MAGIC_COOKIE, 4);
  transactionId.copy(header, 8);
  const body = Buffer.concat([header, ...attributes.map(writeAttribute)]);
  const signed = password === undefined ? body : withIntegrity(body, password);
  signed.writeUInt16BE(signed.length + 8 - HEADER_BYTES, 2);
  const value = Buffer.alloc(4);
  value.writeUInt32BE((crc32(signed) ^ FINGERPRINT_XOR) >>> 0);
  return Buffer.concat([signed, writeAttribute({ type: STUN_ATTRIBUTE.fingerprint, value })]);
}

function withIntegrity(body: Buffer, password: string): Buffer {
  const integrity = { type: STUN_ATTRIBUTE.messageIntegrity, value: integrityOf(body, password) };
  return Buffer.concat([body, writeAttribute(integrity)]);
}

/** Value of XOR-MAPPED-ADDRESS. RFC 8489, 14.2. */
export function xorMappedAddress({ address, port }: StunAddress, transactionId: Buffer): Buffer {
  const mask = Buffer.alloc(16);
  mask.writeUInt32BE(MAGIC_COOKIE);
  transactionId.copy(mask, 4);
  const bytes = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
  const value = Buffer.alloc(4 + bytes.length);
  value[1] = bytes.length === 4 ? 1 : 2;
  value.writeUInt16BE(port ^ (MAGIC_COOKIE >>> 16), 2);
  for (const [index, byte] of bytes.entries()) value[4 + index] = byte ^ mask[index]!;
  return value;
}

function ipv6Bytes(address: string): Buffer {
  const plain = address.split('%')[0]!;
  const [head = '', tail] = plain.split('::');
  const groups = head === '' ? [] : head.split(':');
  const trailing = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = Array.from({ length: Math.max(0, 8 - groups.length - trailing.length) }, () => '0');
  const bytes = Buffer.alloc(16);
  for (const [index, group] of [...groups, ...gap, ...trailing].slice(0, 8).entries()) {
    bytes.writeUInt16BE(Number.parseInt(group, 16) & 0xffff, index * 2);
  }
  return bytes;
}

/** Counts the attribute itself in the length of the header, as the sender does. */
function integrityOf(before: Buffer, password: string): Buffer {
  const header = Buffer.from(before.subarray(0, HEADER_BYTES));
  header.writeUInt16BE(before.length + 4 + INTEGRITY_BYTES - HEADER_BYTES, 2);
  return createHmac('sha1', password).update(header).update(before.subarray(HEADER_BYTES)).digest();
}

function hasFingerprint(bytes: Buffer, at: number, end: number): boolean {
  if (end !== bytes.length || end - at !== 8) return false;
  return (crc32(bytes.subarray(0, at)) ^ FINGERPRINT_XOR) >>> 0 === bytes.readUInt32BE(at + 4);
}

function writeAttribute({ type, value }: StunAttribute): Buffer {
  const bytes = Buffer.alloc(4 + padded(value.length));
  bytes.writeUInt16BE(type, 0);
  bytes.writeUInt16BE(value.length, 2);
  value.copy(bytes, 4);
  return bytes;
}

function padded(length: number): number {
  return (length + 3) & ~3;
}
