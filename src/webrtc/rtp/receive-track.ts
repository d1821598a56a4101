import type { ReceptionReport, SenderReport } from '../../media/rtp/rtcp.ts';
import type { RtpPacket } from '../../media/rtp/rtp-packet.ts';
import type { MediaKind, RtpCodec } from '../sdp/session-description.ts';
import { JitterBuffer, type OrderedPacket } from './jitter-buffer.ts';

interface ReceiveTrackOptions {
  readonly kind: MediaKind;
  readonly codec: RtpCodec;
  /** Codec of retransmitted packets. RFC 4588. */
  readonly rtx: RtpCodec | undefined;
}

/** Long enough for two retransmissions over 100 ms, and shorter than what viewers have buffered. */
const maxWaitMs = 500;
/** Longest delay of packets that were only overtaken. */
const maxReorderMs = 80;

/** One track of the client: packets in order, with what is reported back. */
export class ReceiveTrack {
  readonly kind: MediaKind;
  readonly codec: RtpCodec;
  readonly #rtxPayloadType: number | undefined;
  readonly #canRequest: boolean;
  #buffer: JitterBuffer;
  #ssrc: number | undefined;
  /** Totals of the previous sources. */
  readonly #past = { received: 0, lost: 0, recovered: 0 };
  /** RFC 3550, A.8. */
  #jitter = 0;
  #transit: number | undefined;
  #reported = { expected: 0, received: 0 };
  #lastReport: { readonly ntpMiddle: number; readonly atMs: number } | undefined;

  constructor({ kind, codec, rtx }: ReceiveTrackOptions) {
    this.kind = kind;
    this.codec = codec;
    this.#rtxPayloadType = rtx?.payloadType;
    this.#canRequest = codec.feedback.includes('nack');
    this.#buffer = this.#createBuffer();
  }

  /** Undefined before the first packet. */
  get ssrc(): number | undefined {
    return this.#ssrc;
  }

  get totals(): { readonly received: number; readonly lost: number; readonly recovered: number } {
    const { received, lost, recovered } = this.#past;
    return {
      received: received + this.#buffer.received,
      lost: lost + this.#buffer.lost,
      recovered: recovered + this.#buffer.recovered,
    };
  }

  get isWaiting(): boolean {
    return this.#buffer.isWaiting;
  }

  /** Returns false for packets of other tracks. */
  push(packet: RtpPacket, nowMs: number): boolean {
    if (packet.payloadType === this.#rtxPayloadType) {
      const original = this.#originalOf(packet);
      if (original !== undefined) this.#buffer.push(original, nowMs, true);
      return true;
    }
    if (packet.payloadType !== this.codec.payloadType) return false;
    if (packet.ssrc !== this.#ssrc) this.#changeSource(packet.ssrc);
    this.#measureJitter(packet, nowMs);
    this.#buffer.push(packet, nowMs);
    return true;
  }

  pull(nowMs: number): Iterable<OrderedPacket> {
    return this.#buffer.pull(nowMs);
  }

  requests(nowMs: number, roundTripMs: number): number[] {
    return this.#buffer.requests(nowMs, roundTripMs);
  }

  senderReport({ ntpMiddle }: SenderReport, nowMs: number): void {
    this.#lastReport = { ntpMiddle, atMs: nowMs };
  }

  /** Undefined before the first packet. */
  report(nowMs: number): ReceptionReport | undefined {
    if (this.#ssrc === undefined) return undefined;
    const { expected, received, highest } = this.#buffer;
    const newlyExpected = expected - this.#reported.expected;
    const newlyLost = newlyExpected - (received - this.#reported.received);
    this.#reported = { expected, received };
    const last = this.#lastReport;
    return {
      ssrc: this.#ssrc,
      fractionLost: newlyExpected <= 0 ? 0 : Math.max(0, newlyLost) / newlyExpected,
      packetsLost: expected - received,
      highestSequenceNumber: highest,
      jitter: this.#jitter,
      lastReport: last && { ntpMiddle: last.ntpMiddle, delayMs: nowMs - last.atMs },
    };
  }

  /** Undefined for packets that only probe the bandwidth. RFC 4588, 4. */
  #originalOf(packet: RtpPacket): RtpPacket | undefined {
    if (packet.payload.length < 3 || this.#ssrc === undefined) return undefined;
    return {
      ...packet,
      ssrc: this.#ssrc,
      payloadType: this.codec.payloadType,
      sequenceNumber: packet.payload.readUInt16BE(),
      payload: packet.payload.subarray(2),
    };
  }

  #changeSource(ssrc: number): void {
    const { received, lost, recovered } = this.totals;
    Object.assign(this.#past, { received, lost, recovered });
    this.#ssrc = ssrc;
    this.#buffer = this.#createBuffer();
    this.#transit = undefined;
    this.#reported = { expected: 0, received: 0 };
    this.#lastReport = undefined;
  }

  #createBuffer(): JitterBuffer {
    return new JitterBuffer({
      maxWaitMs: this.#canRequest ? maxWaitMs : maxReorderMs,
      canRequest: this.#canRequest,
    });
  }

  #measureJitter({ timestamp }: RtpPacket, nowMs: number): void {
    const transit = (nowMs * this.codec.clockRate) / 1000 - timestamp;
    const difference = Math.abs(transit - (this.#transit ?? transit));
    this.#transit = transit;
    // A wrap of the timestamp is no jitter.
    if (difference < this.codec.clockRate * 10) this.#jitter += (difference - this.#jitter) / 16;
  }
}
