import type { PayloadCipher } from './key-material.ts';
import {
  CONTROL,
  type ControlPacket,
  markRetransmitted,
  readAck,
  readLossList,
  writeControl,
  writeData,
  writeDropRequest,
} from './packet.ts';
import { windowPackets } from './receive-buffer.ts';
import { addSequence, sequenceDistance } from './sequence-number.ts';

interface SenderOptions {
  readonly initialSequence: number;
  readonly latencyMs: number;
  readonly peerSocketId: number;
  /** Encrypts with its even key. */
  readonly cipher: PayloadCipher | undefined;
  readonly send: (packet: Buffer) => void;
  /** Monotonic. */
  readonly nowMs: () => number;
}

interface SentPacket {
  readonly bytes: Buffer;
  readonly atMs: number;
  sentAtMs: number;
  repeats: number;
}

/** Packets are kept for the latency and a quarter of it, and at least for this long. */
const minKeptMs = 1_020;
/** A receiver that asks for everything again gets a bounded amount. */
const maxRepeats = 10;
const keepaliveMs = 1_000;

/** The sending side of a connection in live mode, without its socket. Call {@link tick} about every 10 ms. */
export class SrtSender {
  readonly #options: SenderOptions;
  readonly #startedAtMs: number;
  readonly #keptMs: number;
  /** Oldest first; consecutive numbers from {@link #first}. */
  #kept: SentPacket[] = [];
  #first: number;
  #messageNumber = 1;
  #sentAtMs: number;
  #roundTripMs = 100;
  retransmitted = 0;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#first = options.initialSequence;
    this.#startedAtMs = options.nowMs();
    this.#sentAtMs = this.#startedAtMs;
    this.#keptMs = Math.max(minKeptMs, options.latencyMs * 1.25);
  }

  /** @param payload at most 1456 bytes */
  push(payload: Buffer): void {
    const { cipher, peerSocketId, nowMs } = this.#options;
    const atMs = nowMs();
    if (this.#kept.length >= windowPackets) this.#forget(1);
    const sequence = addSequence(this.#first, this.#kept.length);
    const bytes = writeData({
      sequence,
      messageNumber: this.#messageNumber,
      destination: peerSocketId,
      key: cipher === undefined ? undefined : 'even',
      timestampUs: this.#timestampUs(atMs),
      payload: cipher?.apply('even', sequence, payload) ?? payload,
    });
    this.#messageNumber = (this.#messageNumber % 0x3ff_ffff) + 1;
    this.#kept.push({ bytes, atMs, sentAtMs: atMs, repeats: 0 });
    this.#sentAtMs = atMs;
    this.#options.send(bytes);
  }

  control(packet: ControlPacket): void {
    if (packet.type === CONTROL.ack) this.#acknowledged(packet);
    else if (packet.type === CONTROL.lossReport) this.#repeat(packet.body);
  }

  tick(): void {
    const nowMs = this.#options.nowMs();
    const isOld = ({ atMs }: SentPacket) => nowMs - atMs > this.#keptMs;
    let old = 0;
    while (old < this.#kept.length && isOld(this.#kept[old]!)) old += 1;
    if (old > 0) this.#forget(old);
    if (nowMs - this.#sentAtMs >= keepaliveMs) this.#control(CONTROL.keepalive);
  }

  shutdown(): void {
    this.#control(CONTROL.shutdown);
  }

  #acknowledged({ info, body }: ControlPacket): void {
    const ack = readAck(body);
    if (ack === undefined) return;
    const count = sequenceDistance(this.#first, ack.nextSequence);
    if (count > 0 && count <= this.#kept.length) this.#forget(count);
    // A light acknowledgement is not answered.
    if (ack.roundTripUs === undefined) return;
    this.#roundTripMs = ack.roundTripUs / 1_000;
    this.#control(CONTROL.ackAck, info);
  }

  #repeat(lossList: Buffer): void {
    const { send, nowMs } = this.#options;
    const atMs = nowMs();
    let oldest = 0;
    let checked = 0;
    for (const { first, last } of readLossList(lossList, windowPackets)) {
      const from = sequenceDistance(this.#first, first);
      const to = sequenceDistance(this.#first, last);
      oldest = Math.min(oldest, from);
      for (let at = Math.max(0, from); at <= Math.min(to, this.#kept.length - 1); at += 1) {
        // A report may name the same packets over and over.
        checked += 1;
        if (checked > windowPackets) break;
        const packet = this.#kept[at]!;
        // Skips a packet that may still be on its way.
        if (atMs - packet.sentAtMs < this.#roundTripMs * 0.8 && packet.repeats > 0) continue;
        if (packet.repeats >= maxRepeats) continue;
        packet.repeats += 1;
        packet.sentAtMs = atMs;
        markRetransmitted(packet.bytes);
        this.retransmitted += 1;
        send(packet.bytes);
      }
    }
    if (oldest === 0) return;
    const forgotten = { first: addSequence(this.#first, oldest), last: addSequence(this.#first, -1) };
    this.#control(CONTROL.dropRequest, 0, writeDropRequest(forgotten));
  }

  #forget(count: number): void {
    this.#kept.splice(0, count);
    this.#first = addSequence(this.#first, count);
  }

  #control(type: number, info = 0, body?: Buffer): void {
    const { send, peerSocketId, nowMs } = this.#options;
    this.#sentAtMs = nowMs();
    const timestampUs = this.#timestampUs(this.#sentAtMs);
    const fields = { type, info, timestampUs, destination: peerSocketId };
    send(writeControl(body === undefined ? fields : { ...fields, body }));
  }

  #timestampUs(nowMs: number): number {
    return Math.round((nowMs - this.#startedAtMs) * 1_000) >>> 0;
  }
}
