import { randomInt } from 'node:crypto';
import { writeSenderReport, writeSourceDescription } from '../../media/rtp/rtcp.ts';
import { writeRtp } from '../../media/rtp/rtp-packet.ts';
import type { MediaKind, RtpCodec } from '../sdp/session-description.ts';

/** One frame of video, or one packet of audio. */
export interface OutgoingFrame {
  /** RTP timestamp in units of the codec's clock; wraps here. */
  readonly timestamp: number;
  /** Shared by all receivers. */
  readonly payloads: readonly Buffer[];
  /** Time on the sender's clock, since 1900. */
  readonly ntpMs: number;
}

interface SentPacket {
  readonly sequenceNumber: number;
  readonly timestamp: number;
  readonly isMarked: boolean;
  readonly payload: Buffer;
  resends: number;
}

/** Seconds of video: requests come a round trip late. */
const maxKept = 1_024;
/** A client that asks more often is out of reach. */
const maxResends = 5;

/** One track that the server sends to one client. */
export class SendTrack {
  readonly kind: MediaKind;
  readonly codec: RtpCodec;
  readonly ssrc = randomInt(1, 2 ** 32);
  readonly #name: string;
  readonly #sent: (SentPacket | undefined)[] = [];
  /** Below half, so that the first wrap comes late. RFC 3711, 3.3.1. */
  #sequenceNumber = randomInt(0, 2 ** 15);
  #packets = 0;
  #bytes = 0;
  #resent = 0;
  #last: OutgoingFrame | undefined;
  #reported: OutgoingFrame | undefined;

  /** @param name the same for tracks that are played together */
  constructor(kind: MediaKind, codec: RtpCodec, name: string) {
    this.kind = kind;
    this.codec = codec;
    this.#name = name;
  }

  get totals(): { readonly packets: number; readonly bytes: number; readonly resent: number } {
    return { packets: this.#packets, bytes: this.#bytes, resent: this.#resent };
  }

  /** @returns packets to protect and send */
  packets(frame: OutgoingFrame): Buffer[] {
    this.#last = frame;
    const { payloads } = frame;
    return payloads.map((payload, index) => {
      const sequenceNumber = this.#sequenceNumber;
      this.#sequenceNumber = (sequenceNumber + 1) & 0xffff;
      this.#packets += 1;
      this.#bytes += payload.length;
      const packet: SentPacket = {
        sequenceNumber,
        payload,
        resends: 0,
        timestamp: frame.timestamp % 2 ** 32,
        // The mark of audio is the begin of speech. RFC 3551, 4.1.
        isMarked: this.kind === 'video' && index === payloads.length - 1,
      };
      this.#sent[sequenceNumber % maxKept] = packet;
      return this.#write(packet);
    });
  }

  /** Undefined when the packet is no longer kept, or was asked for too often. */
  again(sequenceNumber: number): Buffer | undefined {
    const packet = this.#sent[sequenceNumber % maxKept];
    if (packet?.sequenceNumber !== sequenceNumber || packet.resends >= maxResends) return undefined;
    packet.resends += 1;
    this.#resent += 1;
    return this.#write(packet);
  }

  /** Undefined when nothing was sent since the last one. */
  report(): Buffer | undefined {
    const frame = this.#last;
    if (frame === undefined || frame === this.#reported) return undefined;
    this.#reported = frame;
    const report = { ssrc: this.ssrc, ntpMs: frame.ntpMs, rtpTimestamp: frame.timestamp % 2 ** 32 };
    const sent = { packets: this.#packets, bytes: this.#bytes };
    return Buffer.concat([writeSenderReport(report, sent), writeSourceDescription(this.ssrc, this.#name)]);
  }

  #write(packet: SentPacket): Buffer {
    return writeRtp({ ...packet, ssrc: this.ssrc, payloadType: this.codec.payloadType });
  }
}
