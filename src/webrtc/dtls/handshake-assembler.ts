import { ByteReader, uint } from './byte-reader.ts';

export interface HandshakeMessage {
  readonly type: number;
  readonly number: number;
  readonly body: Buffer;
}

interface PartialMessage {
  readonly type: number;
  readonly body: Buffer;
  /** 1 for each byte that arrived. */
  readonly arrived: Uint8Array;
  missing: number;
}

/** A client's certificate is the longest message. */
const maxMessageBytes = 16 * 1024;
/** Maximum messages ahead. The first message is a flight of its own; the other flight has at most five. */
const maxAhead = 8;

/** Puts the fragments of handshake messages together, and the messages in order. RFC 6347, 4.2.3. */
export class HandshakeAssembler {
  readonly #partial = new Map<number, PartialMessage>();
  #next = 0;

  /**
   * Returns the complete messages that are next. Calls `repeated` with the type of a message that came before, which means
   * that our answer was lost.
   */
  add(fragments: Buffer, repeated: (type: number) => void): HandshakeMessage[] {
    const reader = new ByteReader(fragments);
    const complete: HandshakeMessage[] = [];
    while (reader.left > 0) {
      const type = reader.uint(1);
      const length = reader.uint(3);
      const number = reader.uint(2);
      const offset = reader.uint(3);
      const body = reader.vector(3);
      if (number < this.#next) {
        if (body.length > 0) repeated(type);
      } else if (number < this.#next + (this.#next === 0 ? 1 : maxAhead))
        this.#store(type, length, number, offset, body);
    }
    for (;;) {
      const first = this.#partial.get(this.#next);
      if (first === undefined || first.missing > 0) return complete;
      this.#partial.delete(this.#next);
      complete.push({ type: first.type, number: this.#next, body: first.body });
      this.#next += 1;
    }
  }

  #store(type: number, length: number, number: number, offset: number, body: Buffer): void {
    if (length > maxMessageBytes || offset + body.length > length) return;
    let message = this.#partial.get(number);
    if (message === undefined) {
      message = { type, body: Buffer.alloc(length), arrived: new Uint8Array(length), missing: length };
      this.#partial.set(number, message);
    }
    if (message.type !== type || message.body.length !== length) return;
    for (let at = 0; at < body.length; at++) {
      if (message.arrived[offset + at] === 1) continue;
      message.arrived[offset + at] = 1;
      message.body[offset + at] = body[at]!;
      message.missing -= 1;
    }
  }
}

/** Writes a message that fits one record. */
export function writeHandshake({ type, number, body }: HandshakeMessage): Buffer {
  const length = uint(3, body.length);
  return Buffer.concat([uint(1, type), length, uint(2, number), uint(3, 0), length, body]);
}
