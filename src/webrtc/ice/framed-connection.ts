import type { Socket } from 'node:net';
import { unmappedAddress } from '../../shared/network/unmapped-address.ts';
import type { TransportPath } from './transport-path.ts';

/** Limit until the client is known: only STUN messages are expected. */
const maxUnverifiedBytes = 2_048;
/** Maximum frame size: larger packets do not exist on the way here. */
const maxFrameBytes = 16 * 1024;
/** A slow receiver loses packets, as it would over UDP. */
const maxQueuedBytes = 1024 * 1024;

const closeGraceMs = 250;

interface FramedConnectionEvents {
  packet(packet: Buffer, connection: FramedConnection): void;
  closed(connection: FramedConnection): void;
}

/** Packets over TCP, each after its length in 2 bytes. RFC 4571, 2; RFC 6544, 3. */
export class FramedConnection implements TransportPath {
  readonly protocol = 'tcp';
  readonly address: string;
  readonly port: number;
  readonly openedAtMs: number;
  readonly #socket: Socket;
  /** Bytes of an incomplete frame. */
  #pending: Buffer = Buffer.alloc(0);
  #isVerified = false;

  constructor(socket: Socket, events: FramedConnectionEvents, nowMs: number) {
    this.#socket = socket;
    this.address = unmappedAddress(socket.remoteAddress ?? '');
    this.port = socket.remotePort ?? 0;
    this.openedAtMs = nowMs;
    socket.setNoDelay(true);
    socket.on('data', data => this.#read(data, events));
    // The end comes as `close`.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => events.closed(this));
  }

  get isVerified(): boolean {
    return this.#isVerified;
  }

  /** The client has authenticated itself. */
  verify(): void {
    this.#isVerified = true;
  }

  get isCongested(): boolean {
    return this.#socket.writableLength > maxQueuedBytes / 4;
  }

  send(packet: Buffer | readonly Buffer[]): void {
    if (this.#socket.destroyed || this.#socket.writableLength > maxQueuedBytes) return;
    const length = Buffer.allocUnsafe(2);
    const frame = Buffer.concat([length, ...(Array.isArray(packet) ? packet : [packet])]);
    frame.writeUInt16BE(frame.length - 2);
    this.#socket.write(frame);
  }

  /** Sends what is queued, such as the goodbye of DTLS, unless the client reads too slowly. */
  close(): void {
    this.#socket.destroySoon();
    setTimeout(() => this.#socket.destroy(), closeGraceMs).unref();
  }

  #read(data: Buffer, events: FramedConnectionEvents): void {
    const bytes = this.#pending.length === 0 ? data : Buffer.concat([this.#pending, data]);
    let at = 0;
    while (at + 2 <= bytes.length) {
      const end = at + 2 + bytes.readUInt16BE(at);
      if (end - at - 2 > (this.#isVerified ? maxFrameBytes : maxUnverifiedBytes)) {
        this.#socket.destroy();
        return;
      }
      if (end > bytes.length) break;
      if (end > at + 2) events.packet(bytes.subarray(at + 2, end), this);
      if (this.#socket.destroyed) return;
      at = end;
    }
    this.#pending = Buffer.from(bytes.subarray(at));
  }
}
