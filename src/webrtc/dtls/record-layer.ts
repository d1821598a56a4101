import { createCipheriv, createDecipheriv } from 'node:crypto';
import { ReplayWindow } from '../replay-window.ts';
import { uint } from './byte-reader.ts';
import { DTLS_1_2 } from './handshake-messages.ts';

/** RFC 6347, 4.1. */
export const CONTENT = { changeCipherSpec: 20, alert: 21, handshake: 22 } as const;
const HEADER_BYTES = 13;
const EXPLICIT_NONCE_BYTES = 8;
const TAG_BYTES = 16;
const replayWindowRecords = 64;

interface DtlsRecord {
  readonly type: number;
  /** 0 before the handshake's end, 1 after. */
  readonly epoch: number;
  readonly body: Buffer;
}

export interface RecordKeys {
  readonly clientKey: Buffer;
  readonly serverKey: Buffer;
  /** 4 bytes. */
  readonly clientSalt: Buffer;
  readonly serverSalt: Buffer;
}

/** Splits datagrams into records, and writes them; epoch 1 is AES-128-GCM. RFC 5288, 3. */
export class RecordLayer {
  #keys: RecordKeys | undefined;
  /** Number of the next record, by epoch. */
  readonly #nextNumber = [0, 0];
  readonly #received = new ReplayWindow(replayWindowRecords);

  useKeys(keys: RecordKeys): void {
    this.#keys = keys;
  }

  /**
   * Leaves out what is malformed, replayed or not authentic, as the standard asks for. Keys that are set meanwhile open the
   * records that follow, since clients send the end of the handshake as one datagram.
   */
  *read(datagram: Buffer): Generator<DtlsRecord> {
    for (let at = 0; at + HEADER_BYTES <= datagram.length; ) {
      const end = at + HEADER_BYTES + datagram.readUInt16BE(at + 11);
      if (end > datagram.length) break;
      const type = datagram[at]!;
      const epoch = datagram.readUInt16BE(at + 3);
      const body = datagram.subarray(at + HEADER_BYTES, end);
      if (datagram[at + 1] === 0xfe) {
        if (epoch === 0) yield { type, epoch, body };
        else if (epoch === 1) {
          const opened = this.#open(datagram.subarray(at, at + HEADER_BYTES), body);
          if (opened !== undefined) yield { type, epoch, body: opened };
        }
      }
      at = end;
    }
  }

  write(type: number, epoch: 0 | 1, body: Buffer): Buffer {
    const number = this.#nextNumber[epoch]!++;
    const epochAndNumber = Buffer.concat([uint(2, epoch), uint(6, number)]);
    const head = Buffer.concat([uint(1, type), uint(2, DTLS_1_2), epochAndNumber]);
    const sealed = epoch === 0 ? body : this.#seal(type, epochAndNumber, body);
    return Buffer.concat([head, uint(2, sealed.length), sealed]);
  }

  #open(header: Buffer, body: Buffer): Buffer | undefined {
    const keys = this.#keys;
    const number = header.readUIntBE(5, 6);
    if (keys === undefined || body.length < EXPLICIT_NONCE_BYTES + TAG_BYTES) return undefined;
    if (!this.#received.isFresh(number)) return undefined;
    const nonce = Buffer.concat([keys.clientSalt, body.subarray(0, EXPLICIT_NONCE_BYTES)]);
    const sealed = body.subarray(EXPLICIT_NONCE_BYTES, -TAG_BYTES);
    const decipher = createDecipheriv('aes-128-gcm', keys.clientKey, nonce);
    decipher.setAAD(additionalData(header[0]!, header.subarray(3, 11), sealed.length));
    decipher.setAuthTag(body.subarray(-TAG_BYTES));
    try {
      const opened = Buffer.concat([decipher.update(sealed), decipher.final()]);
      this.#received.add(number);
      return opened;
    } catch {
      return undefined;
    }
  }

  #seal(type: number, epochAndNumber: Buffer, body: Buffer): Buffer {
    const { serverKey, serverSalt } = this.#keys!;
    const cipher = createCipheriv('aes-128-gcm', serverKey, Buffer.concat([serverSalt, epochAndNumber]));
    cipher.setAAD(additionalData(type, epochAndNumber, body.length));
    const sealed = Buffer.concat([cipher.update(body), cipher.final()]);
    return Buffer.concat([epochAndNumber, sealed, cipher.getAuthTag()]);
  }
}

function additionalData(type: number, epochAndNumber: Buffer, bytes: number): Buffer {
  return Buffer.concat([epochAndNumber, uint(1, type), uint(2, DTLS_1_2), uint(2, bytes)]);
}
