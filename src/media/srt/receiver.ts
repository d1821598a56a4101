import { type PayloadCipher, readKeyMessage } from './key-material.ts';
import {
  CONTROL,
  type ControlPacket,
  type DataPacket,
  EXTENSION,
  maxPayloadBytes,
  readDropRequest,
  writeAck,
  writeControl,
  writeLossList,
} from './packet.ts';
import { ReceiveBuffer, windowPackets } from './receive-buffer.ts';
import { RoundTrip } from './round-trip.ts';

interface ReceiverOptions {
  readonly initialSequence: number;
  readonly latencyMs: number;
  readonly peerSocketId: number;
  /** Undefined: not encrypted. */
  readonly encryption: { readonly cipher: PayloadCipher; readonly passphrase: string } | undefined;
  readonly send: (packet: Buffer) => void;
  /** Called with payloads in order. Buffers may be kept. */
  readonly payload: (payload: Buffer) => void;
  /** Monotonic. */
  readonly nowMs: () => number;
}

/** Half of what the specification allows: the encoder learns the round trip time from it, and frees its buffer. */
const ackIntervalMs = 20;
/** A lost acknowledgement is repeated after this. */
const ackRepeatMs = 300;
const minLossReportMs = 20;
const keepaliveMs = 1_000;
/** The sender keeps its packets about as long. */
const minSilenceMs = 1_000;
/** Maximum ranges in one packet: 2 words each. */
const maxLossRanges = 150;
/** Acknowledgements whose answer may still come. */
const maxOpenAcks = 64;

/** The receiving side of a connection in live mode, without its socket. Call {@link tick} about every 10 ms. */
export class SrtReceiver {
  readonly #options: ReceiverOptions;
  readonly #startedAtMs: number;
  readonly #buffer: ReceiveBuffer;
  readonly #roundTrip = new RoundTrip();
  /** Times at which open acknowledgements were sent, by their numbers. */
  readonly #openAcks = new Map<number, number>();
  #ackNumber = 0;
  #ackedSequence: number;
  #confirmedSequence: number;
  #ackedAtMs = 0;
  #reportedAtMs = 0;
  #sentAtMs: number;
  #mediaAtMs: number;
  #rate = { sinceMs: 0, packets: 0, bytes: 0, packetsPerSecond: 0, bytesPerSecond: 0 };
  #isReadingKeys = false;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#startedAtMs = options.nowMs();
    this.#sentAtMs = this.#startedAtMs;
    this.#mediaAtMs = this.#startedAtMs;
    this.#ackedSequence = options.initialSequence;
    this.#confirmedSequence = options.initialSequence;
    this.#buffer = new ReceiveBuffer(options.initialSequence, options.latencyMs, packet =>
      this.#deliver(packet),
    );
  }

  get stats() {
    const { received, lost, recovered, givenUp, duplicates } = this.#buffer;
    return { roundTripMs: this.#roundTrip.measuredMs, received, lost, recovered, givenUp, duplicates };
  }

  data(packet: DataPacket): void {
    if (packet.payload.length > maxPayloadBytes) return;
    this.#mediaAtMs = this.#options.nowMs();
    this.#rate.packets += 1;
    this.#rate.bytes += packet.payload.length;
    const gap = this.#buffer.push(packet);
    if (gap !== undefined) this.#send(CONTROL.lossReport, { body: writeLossList([gap]) });
  }

  control(packet: ControlPacket): void {
    if (packet.type === CONTROL.ackAck) this.#confirm(packet.info);
    else if (packet.type === CONTROL.dropRequest) {
      const range = readDropRequest(packet.body, windowPackets);
      if (range !== undefined) this.#buffer.drop(range);
    } else if (packet.type === CONTROL.userDefined && packet.subtype === EXTENSION.keyRequest) {
      void this.#renewKeys(packet.body);
    }
  }

  tick(): void {
    const nowMs = this.#options.nowMs();
    if (this.#buffer.missing > 0) {
      const intervalMs = (this.#roundTrip.us + 4 * this.#roundTrip.varianceUs) / 2_000;
      if (nowMs - this.#mediaAtMs >= Math.max(minSilenceMs, this.#options.latencyMs)) {
        this.#buffer.giveUpAll();
      } else if (nowMs - this.#reportedAtMs >= Math.max(minLossReportMs, intervalMs)) {
        this.#reportedAtMs = nowMs;
        this.#send(CONTROL.lossReport, { body: writeLossList(this.#buffer.missingRanges(maxLossRanges)) });
      }
    }
    if (nowMs - this.#ackedAtMs >= ackIntervalMs) this.#acknowledge(nowMs);
    if (nowMs - this.#sentAtMs >= keepaliveMs) this.#send(CONTROL.keepalive);
  }

  /** Tells the peer that the connection ends. */
  shutdown(): void {
    this.#send(CONTROL.shutdown);
  }

  /** Delivers what waits behind gaps. */
  finish(): void {
    this.#buffer.giveUpAll();
  }

  #deliver({ key, sequence, payload }: DataPacket): void {
    const cipher = this.#options.encryption?.cipher;
    const plain = key === undefined ? payload : cipher?.apply(key, sequence, payload);
    // Drops packets without encryption where a passphrase is set: nobody on the path may add media of their own.
    if (plain !== undefined && (cipher === undefined || key !== undefined)) this.#options.payload(plain);
  }

  #acknowledge(nowMs: number): void {
    const { nextSequence } = this.#buffer;
    const isRepeat = nextSequence === this.#ackedSequence;
    if (isRepeat && (nextSequence === this.#confirmedSequence || nowMs - this.#ackedAtMs < ackRepeatMs)) {
      return;
    }
    this.#measureRate(nowMs);
    this.#ackedAtMs = nowMs;
    this.#ackedSequence = nextSequence;
    this.#ackNumber = (this.#ackNumber + 1) >>> 0;
    this.#openAcks.set(this.#ackNumber, nowMs);
    if (this.#openAcks.size > maxOpenAcks) this.#openAcks.delete(this.#openAcks.keys().next().value!);
    this.#send(CONTROL.ack, {
      info: this.#ackNumber,
      body: writeAck({
        nextSequence,
        roundTripUs: this.#roundTrip.us,
        roundTripVarianceUs: this.#roundTrip.varianceUs,
        freePackets: this.#buffer.freePackets,
        ...this.#rate,
      }),
    });
  }

  #confirm(ackNumber: number): void {
    const sentAtMs = this.#openAcks.get(ackNumber);
    if (sentAtMs === undefined) return;
    this.#openAcks.delete(ackNumber);
    if (ackNumber === this.#ackNumber) this.#confirmedSequence = this.#ackedSequence;
    this.#roundTrip.add((this.#options.nowMs() - sentAtMs) * 1_000);
    this.#buffer.roundTripUs = this.#roundTrip.us;
  }

  #measureRate(nowMs: number): void {
    const elapsedMs = nowMs - this.#rate.sinceMs;
    if (elapsedMs < 1_000) return;
    const { packets, bytes } = this.#rate;
    this.#rate = {
      sinceMs: nowMs,
      packets: 0,
      bytes: 0,
      packetsPerSecond: Math.round((packets * 1_000) / elapsedMs),
      bytesPerSecond: Math.round((bytes * 1_000) / elapsedMs),
    };
  }

  /** One at a time, since each costs CPU. The sender repeats what is not answered. */
  async #renewKeys(message: Buffer): Promise<void> {
    const { encryption } = this.#options;
    if (encryption === undefined || this.#isReadingKeys) return;
    this.#isReadingKeys = true;
    const keys = await readKeyMessage(message, encryption.passphrase);
    this.#isReadingKeys = false;
    if (typeof keys === 'string') return;
    encryption.cipher.update(keys);
    this.#send(CONTROL.userDefined, { subtype: EXTENSION.keyResponse, body: message });
  }

  #send(type: number, fields: { subtype?: number; info?: number; body?: Buffer } = {}): void {
    const nowMs = this.#options.nowMs();
    this.#sentAtMs = nowMs;
    const timestampUs = Math.round((nowMs - this.#startedAtMs) * 1_000) >>> 0;
    this.#options.send(
      writeControl({ type, timestampUs, destination: this.#options.peerSocketId, ...fields }),
    );
  }
}
