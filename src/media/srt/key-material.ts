import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  pbkdf2,
  randomBytes,
} from 'node:crypto';
import { promisify } from 'node:util';
import type { KeyParity } from './packet.ts';

const deriveKey = promisify(pbkdf2);
const iterations = 2048;
/** Bytes at the end of the salt that derive the key that wraps. */
const derivationSaltBytes = 8;
const saltBytes = 16;
const headBytes = 16;
/** RFC 3394, section 2.2.3.1. */
const wrapIv = Buffer.from('a6a6a6a6a6a6a6a6', 'hex');
const wrapCheckBytes = 8;
const AES_CTR = 2;
/** S = 0, V = 1, PT = 2 and the signature "HAI" (section 3.2.2). */
const signature = Buffer.from([0x12, 0x20, 0x29]);
const streamEncapsulation = 2;
const EVEN = 1;
const ODD = 2;

export type StreamKeyBytes = 16 | 24 | 32;

interface StreamKeys {
  readonly salt: Buffer;
  readonly even?: Buffer;
  readonly odd?: Buffer;
}

/** State words of a response to key material that cannot be used (section 3.2.2). */
type KeyProblem = 'bad-secret' | 'malformed';

/** Unwraps key material (section 3.2.2), which costs about a millisecond of a worker thread. */
export async function readKeyMessage(message: Buffer, passphrase: string): Promise<StreamKeys | KeyProblem> {
  if (message.length < headBytes || !message.subarray(0, 3).equals(signature)) return 'malformed';
  const parities = message[3]! & 3;
  const salt = message.subarray(headBytes, headBytes + saltBytes);
  const keyBytes = message[15]! * 4;
  const count = parities === (EVEN | ODD) ? 2 : 1;
  const wrapped = message.subarray(headBytes + saltBytes);
  const isKnown =
    parities !== 0 &&
    message[8] === AES_CTR &&
    message[14]! * 4 === saltBytes &&
    (keyBytes === 16 || keyBytes === 24 || keyBytes === 32);
  if (!isKnown || wrapped.length !== wrapCheckBytes + count * keyBytes) return 'malformed';
  const wrappingKey = await deriveWrappingKey(passphrase, salt, keyBytes);
  const keys = unwrapKeys(wrappingKey, wrapped);
  if (keys === undefined) return 'bad-secret';
  const first = keys.subarray(0, keyBytes);
  return {
    salt: Buffer.from(salt),
    ...((parities & EVEN) === 0 ? {} : { even: first }),
    ...((parities & ODD) === 0 ? {} : { odd: keys.subarray(keys.length - keyBytes) }),
  };
}

/** Writes key material, with both keys when there are two. */
export async function writeKeyMessage({ salt, even, odd }: StreamKeys, passphrase: string): Promise<Buffer> {
  const keys = [even, odd].filter(key => key !== undefined);
  const keyBytes = keys[0]!.length;
  const head = Buffer.alloc(headBytes);
  signature.copy(head);
  head[3] = (even === undefined ? 0 : EVEN) | (odd === undefined ? 0 : ODD);
  head[8] = AES_CTR;
  head[10] = streamEncapsulation;
  head[14] = saltBytes / 4;
  head[15] = keyBytes / 4;
  const wrappingKey = await deriveWrappingKey(passphrase, salt, keyBytes);
  return Buffer.concat([head, salt, wrapKeys(wrappingKey, Buffer.concat(keys))]);
}

export function newStreamKeys(keyBytes: StreamKeyBytes): StreamKeys & { readonly even: Buffer } {
  return { salt: randomBytes(saltBytes), even: randomBytes(keyBytes) };
}

function deriveWrappingKey(passphrase: string, salt: Buffer, keyBytes: number): Promise<Buffer> {
  return deriveKey(passphrase, salt.subarray(saltBytes - derivationSaltBytes), iterations, keyBytes, 'sha1');
}

export function wrapKeys(wrappingKey: Buffer, keys: Buffer): Buffer {
  const cipher = createCipheriv(`id-aes${wrappingKey.length * 8}-wrap`, wrappingKey, wrapIv);
  return Buffer.concat([cipher.update(keys), cipher.final()]);
}

/** @returns undefined when the wrapping key is another one */
export function unwrapKeys(wrappingKey: Buffer, wrapped: Buffer): Buffer | undefined {
  try {
    const cipher = createDecipheriv(`id-aes${wrappingKey.length * 8}-wrap`, wrappingKey, wrapIv);
    return Buffer.concat([cipher.update(wrapped), cipher.final()]);
  } catch {
    return undefined;
  }
}

/** Encrypts and decrypts payloads with the current keys: AES-CTR is its own inverse. */
export class PayloadCipher {
  #salt: Buffer;
  /** A key as bytes would take three times as long for each packet. */
  readonly #keys: Partial<Record<KeyParity, KeyObject>> = {};
  readonly #iv = Buffer.alloc(16);

  constructor(keys: StreamKeys) {
    this.#salt = keys.salt;
    this.update(keys);
  }

  /** A key that the new ones leave out stays, for packets that are on their way. */
  update({ salt, even, odd }: StreamKeys): void {
    this.#salt = salt;
    if (even !== undefined) this.#keys.even = createSecretKey(even);
    if (odd !== undefined) this.#keys.odd = createSecretKey(odd);
  }

  /** @returns undefined without the key of this parity */
  apply(parity: KeyParity, sequence: number, payload: Buffer): Buffer | undefined {
    const key = this.#keys[parity];
    if (key === undefined) return undefined;
    // Section 6.2.2, as libsrt does it: 14 bytes of the salt, with the sequence number over its last four, then a counter.
    this.#salt.copy(this.#iv, 0, 0, 14);
    this.#iv.writeUInt16BE(0, 14);
    this.#iv.writeUInt32BE((this.#iv.readUInt32BE(10) ^ sequence) >>> 0, 10);
    return createCipheriv(`aes-${key.symmetricKeySize! * 8}-ctr`, key, this.#iv).update(payload);
  }
}
