import { type HandshakeMessage, writeHandshake } from './handshake-assembler.ts';
import { CONTENT, type RecordLayer } from './record-layer.ts';

interface Flight {
  readonly handshakes: readonly HandshakeMessage[];
  /** Sends ChangeCipherSpec before, and encrypts. */
  readonly isLast: boolean;
}

/** Certificates fit with the other messages of the flight. */
const maxDatagramBytes = 1200;
const firstRetransmitMs = 400;
const maxRetransmitMs = 3_200;

/** Sends the server's flights of handshake messages, and repeats those that may be lost. RFC 6347, 4.2.4. */
export class OutgoingFlights {
  readonly #records: RecordLayer;
  readonly #send: (datagram: Buffer) => void;
  #flight: Flight | undefined;
  #sentAtMs = Number.NEGATIVE_INFINITY;
  /** The client has sent its last flight again, since ours was lost. */
  #isRequested = false;
  #nextNumber = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(records: RecordLayer, send: (datagram: Buffer) => void) {
    this.#records = records;
    this.#send = send;
  }

  /** Numbers and sends messages, given as type and body. The client asks again if the last flight was lost. */
  start(isLast: boolean, messages: readonly (readonly [number, Buffer])[]): readonly HandshakeMessage[] {
    const handshakes = messages.map(([type, body]) => ({ type, number: this.#nextNumber++, body }));
    this.#flight = { handshakes, isLast };
    this.#sendFlight();
    this.stop();
    if (!isLast) this.#retransmitAfter(firstRetransmitMs);
    return handshakes;
  }

  request(): void {
    this.#isRequested = true;
  }

  /** Once per datagram and interval, however many records ask for it. */
  repeatRequested(): void {
    if (!this.#isRequested) return;
    this.#isRequested = false;
    if (performance.now() - this.#sentAtMs >= firstRetransmitMs) this.#sendFlight();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #retransmitAfter(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#sendFlight();
      this.#retransmitAfter(Math.min(ms * 2, maxRetransmitMs));
    }, ms);
  }

  #sendFlight(): void {
    if (this.#flight === undefined) return;
    this.#sentAtMs = performance.now();
    const { handshakes, isLast } = this.#flight;
    const records = handshakes.map(message =>
      this.#records.write(CONTENT.handshake, isLast ? 1 : 0, writeHandshake(message)),
    );
    if (isLast) records.unshift(this.#records.write(CONTENT.changeCipherSpec, 0, Buffer.from([1])));
    let datagram: Buffer[] = [];
    let bytes = 0;
    for (const record of records) {
      if (bytes > 0 && bytes + record.length > maxDatagramBytes) {
        this.#send(Buffer.concat(datagram));
        datagram = [];
        bytes = 0;
      }
      datagram.push(record);
      bytes += record.length;
    }
    this.#send(Buffer.concat(datagram));
  }
}
