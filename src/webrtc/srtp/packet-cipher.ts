import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import type { SrtpKeys } from '../dtls/dtls-server.ts';
import { SRTP_PROFILE, type SrtpProfile } from '../dtls/handshake-messages.ts';
import { deriveKey, SRTP_LABEL } from './key-derivation.ts';

/** Encrypts and authenticates the packets of one direction. */
export interface PacketCipher {
  /** Bytes that a packet grows by, without the index of RTCP. */
  readonly tagBytes: number;
  /** @param rollover how often the sequence number has wrapped @returns the parts of the datagram: copying them is dearer than sending them */
  sealRtp(header: Buffer, payload: Buffer, rollover: number): readonly Buffer[];
  /** Undefined for a packet that is not authentic. @param headerBytes stay readable */
  openRtp(packet: Buffer, headerBytes: number, rollover: number): Buffer | undefined;
  sealRtcp(packet: Buffer, index: number): Buffer;
  openRtcp(packet: Buffer): { readonly packet: Buffer; readonly index: number } | undefined;
}

export function createPacketCipher(profile: SrtpProfile, keys: SrtpKeys): PacketCipher {
  return profile === SRTP_PROFILE.aeadAes128Gcm ? new GcmCipher(keys) : new CounterModeCipher(keys);
}

const RTCP_HEADER_BYTES = 8;
const INDEX_BYTES = 4;
const ENCRYPTED_FLAG = 0x80000000;

/** RFC 7714. Keys are objects, because bytes would cost several times as much for each packet. */
class GcmCipher implements PacketCipher {
  readonly tagBytes = 16;
  readonly #rtpKey: KeyObject;
  readonly #rtpSalt: Buffer;
  readonly #rtcpKey: KeyObject;
  readonly #rtcpSalt: Buffer;

  constructor({ key, salt }: SrtpKeys) {
    this.#rtpKey = createSecretKey(deriveKey(key, salt, SRTP_LABEL.rtpEncryption, 16));
    this.#rtpSalt = deriveKey(key, salt, SRTP_LABEL.rtpSalt, 12);
    this.#rtcpKey = createSecretKey(deriveKey(key, salt, SRTP_LABEL.rtcpEncryption, 16));
    this.#rtcpSalt = deriveKey(key, salt, SRTP_LABEL.rtcpSalt, 12);
  }

  sealRtp(header: Buffer, payload: Buffer, rollover: number): readonly Buffer[] {
    const cipher = createCipheriv('aes-128-gcm', this.#rtpKey, this.#rtpIv(header, rollover));
    cipher.setAAD(header);
    const sealed = cipher.update(payload);
    cipher.final();
    return [header, sealed, cipher.getAuthTag()];
  }

  openRtp(packet: Buffer, headerBytes: number, rollover: number): Buffer | undefined {
    const end = packet.length - this.tagBytes;
    if (end < headerBytes) return undefined;
    const header = packet.subarray(0, headerBytes);
    const iv = this.#rtpIv(packet, rollover);
    const opened = this.#open(
      this.#rtpKey,
      iv,
      header,
      packet.subarray(headerBytes, end),
      packet.subarray(end),
    );
    return opened && Buffer.concat([header, opened]);
  }

  sealRtcp(packet: Buffer, index: number): Buffer {
    const header = packet.subarray(0, RTCP_HEADER_BYTES);
    const trailer = trailerOf(index);
    const cipher = createCipheriv('aes-128-gcm', this.#rtcpKey, this.#rtcpIv(packet, index));
    cipher.setAAD(Buffer.concat([header, trailer]));
    const sealed = cipher.update(packet.subarray(RTCP_HEADER_BYTES));
    cipher.final();
    return Buffer.concat([header, sealed, cipher.getAuthTag(), trailer]);
  }

  openRtcp(packet: Buffer): { packet: Buffer; index: number } | undefined {
    const trailerAt = packet.length - INDEX_BYTES;
    const tagAt = trailerAt - this.tagBytes;
    if (tagAt < RTCP_HEADER_BYTES) return undefined;
    const trailer = packet.readUInt32BE(trailerAt);
    if (trailer < ENCRYPTED_FLAG) return undefined;
    const index = trailer - ENCRYPTED_FLAG;
    const header = packet.subarray(0, RTCP_HEADER_BYTES);
    const opened = this.#open(
      this.#rtcpKey,
      this.#rtcpIv(packet, index),
      Buffer.concat([header, packet.subarray(trailerAt)]),
      packet.subarray(RTCP_HEADER_BYTES, tagAt),
      packet.subarray(tagAt, trailerAt),
    );
    return opened && { packet: Buffer.concat([header, opened]), index };
  }

  #open(key: KeyObject, iv: Buffer, aad: Buffer, sealed: Buffer, tag: Buffer): Buffer | undefined {
    const decipher = createDecipheriv('aes-128-gcm', key, iv);
    decipher.setAAD(aad);
    decipher.setAuthTag(tag);
    const opened = decipher.update(sealed);
    try {
      decipher.final();
    } catch {
      return undefined;
    }
    return opened;
  }

  /** RFC 7714, 8.1. */
  #rtpIv(packet: Buffer, rollover: number): Buffer {
    const iv = Buffer.alloc(12);
    packet.copy(iv, 2, 8, 12);
    iv.writeUInt32BE(rollover >>> 0, 6);
    packet.copy(iv, 10, 2, 4);
    return xorInto(iv, this.#rtpSalt);
  }

  /** RFC 7714, 9.1. */
  #rtcpIv(packet: Buffer, index: number): Buffer {
    const iv = Buffer.alloc(12);
    packet.copy(iv, 2, 4, 8);
    iv.writeUInt32BE(index, 8);
    return xorInto(iv, this.#rtcpSalt);
  }
}

/** AES in counter mode with HMAC-SHA1. RFC 3711, 4. */
class CounterModeCipher implements PacketCipher {
  readonly tagBytes = 10;
  readonly #rtpKey: KeyObject;
  readonly #rtpSalt: Buffer;
  readonly #rtpAuthentication: KeyObject;
  readonly #rtcpKey: KeyObject;
  readonly #rtcpSalt: Buffer;
  readonly #rtcpAuthentication: KeyObject;

  constructor({ key, salt }: SrtpKeys) {
    this.#rtpKey = createSecretKey(deriveKey(key, salt, SRTP_LABEL.rtpEncryption, 16));
    this.#rtpSalt = deriveKey(key, salt, SRTP_LABEL.rtpSalt, 14);
    this.#rtpAuthentication = createSecretKey(deriveKey(key, salt, SRTP_LABEL.rtpAuthentication, 20));
    this.#rtcpKey = createSecretKey(deriveKey(key, salt, SRTP_LABEL.rtcpEncryption, 16));
    this.#rtcpSalt = deriveKey(key, salt, SRTP_LABEL.rtcpSalt, 14);
    this.#rtcpAuthentication = createSecretKey(deriveKey(key, salt, SRTP_LABEL.rtcpAuthentication, 20));
  }

  sealRtp(header: Buffer, payload: Buffer, rollover: number): readonly Buffer[] {
    const sealed = this.#cryptRtp(header, payload, rollover);
    return [header, sealed, this.#tag(this.#rtpAuthentication, header, sealed, uint32(rollover))];
  }

  openRtp(packet: Buffer, headerBytes: number, rollover: number): Buffer | undefined {
    const end = packet.length - this.tagBytes;
    if (end < headerBytes) return undefined;
    const tag = this.#tag(this.#rtpAuthentication, packet.subarray(0, end), uint32(rollover));
    if (!timingSafeEqual(tag, packet.subarray(end))) return undefined;
    const header = packet.subarray(0, headerBytes);
    return Buffer.concat([header, this.#cryptRtp(header, packet.subarray(headerBytes, end), rollover)]);
  }

  sealRtcp(packet: Buffer, index: number): Buffer {
    const sealed = Buffer.concat([
      packet.subarray(0, RTCP_HEADER_BYTES),
      this.#cryptRtcp(packet, packet.length, index),
      trailerOf(index),
    ]);
    return Buffer.concat([sealed, this.#tag(this.#rtcpAuthentication, sealed)]);
  }

  openRtcp(packet: Buffer): { packet: Buffer; index: number } | undefined {
    const tagAt = packet.length - this.tagBytes;
    const trailerAt = tagAt - INDEX_BYTES;
    if (trailerAt < RTCP_HEADER_BYTES) return undefined;
    const tag = this.#tag(this.#rtcpAuthentication, packet.subarray(0, tagAt));
    const trailer = packet.readUInt32BE(trailerAt);
    if (!timingSafeEqual(tag, packet.subarray(tagAt)) || trailer < ENCRYPTED_FLAG) return undefined;
    const index = trailer - ENCRYPTED_FLAG;
    const opened = this.#cryptRtcp(packet, trailerAt, index);
    return { packet: Buffer.concat([packet.subarray(0, RTCP_HEADER_BYTES), opened]), index };
  }

  #cryptRtp(header: Buffer, payload: Buffer, rollover: number): Buffer {
    const iv = Buffer.alloc(16);
    header.copy(iv, 4, 8, 12);
    iv.writeUInt32BE(rollover >>> 0, 8);
    header.copy(iv, 12, 2, 4);
    return createCipheriv('aes-128-ctr', this.#rtpKey, xorInto(iv, this.#rtpSalt)).update(payload);
  }

  #cryptRtcp(packet: Buffer, to: number, index: number): Buffer {
    const iv = Buffer.alloc(16);
    packet.copy(iv, 4, 4, 8);
    iv.writeUInt32BE(index, 10);
    return createCipheriv('aes-128-ctr', this.#rtcpKey, xorInto(iv, this.#rtcpSalt)).update(
      packet.subarray(RTCP_HEADER_BYTES, to),
    );
  }

  #tag(key: KeyObject, ...parts: readonly Buffer[]): Buffer {
    const hmac = createHmac('sha1', key);
    for (const part of parts) hmac.update(part);
    return hmac.digest().subarray(0, this.tagBytes);
  }
}

function trailerOf(index: number): Buffer {
  return uint32(ENCRYPTED_FLAG + index);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

function xorInto(target: Buffer, salt: Buffer): Buffer {
  for (let index = 0; index < salt.length; index += 1) target[index]! ^= salt[index]!;
  return target;
}
