import { randomInt } from 'node:crypto';
import { ntpMiddleOf, writeSenderReport, writeSourceDescription } from '../../media/rtp/rtcp.ts';
import { writeRtpHeader } from '../../media/rtp/rtp-packet.ts';
import type { MediaKind, RtpCodec } from '../sdp/session-description.ts';

/** One frame of video, or one packet of audio. */
export interface OutgoingFrame {
  /** RTP timestamp in units of the codec's clock; wraps here. */
  readonly timestamp: number;
  /** Shared by all receivers. */
  readonly payloads: readonly Buffer[];
  /** Time on the sender's clock, since 1900. */
  readonly ntpMs: number;
  /** More payloads of this frame follow. */
  readonly isUnfinished?: boolean;
}

/** A packet to protect and send, in parts because all receivers share the payload. */
export interface OutgoingPacket {
  readonly header: Buffer;
  readonly payload: Buffer;
}

interface SentPacket extends OutgoingPacket {
  readonly sequenceNumber: number;
  resends: number;
  isMissed: boolean;
}

/** Seconds of video: requests come a round trip late. */
const maxKept = 1_024;
/** Seconds, since there is one each second. */
const maxKeptReports = 8;
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
  /** The newest sender reports. */
  #reports: readonly { readonly ntpMiddle: number; readonly nowMs: number }[] = [];

  /** @param name the same for tracks that are played together */
  constructor(kind: MediaKind, codec: RtpCodec, name: string) {
    this.kind = kind;
    this.codec = codec;
    this.#name = name;
  }

  get totals(): { readonly packets: number; readonly bytes: number; readonly resent: number } {
    return { packets: this.#packets, bytes: this.#bytes, resent: this.#resent };
  }

  packets(frame: OutgoingFrame): OutgoingPacket[] {
    this.#last = frame;
    const { payloads } = frame;
    return payloads.map((payload, index) => {
      const sequenceNumber = this.#sequenceNumber;
      this.#sequenceNumber = (sequenceNumber + 1) & 0xffff;
      this.#packets += 1;
      this.#bytes += payload.length;
      const header = writeRtpHeader({
        payloadType: this.codec.payloadType,
        // The mark of audio is the begin of speech. RFC 3551, 4.1.
        isMarked: this.kind === 'video' && frame.isUnfinished !== true && index === payloads.length - 1,
        sequenceNumber,
        timestamp: frame.timestamp % 2 ** 32,
        ssrc: this.ssrc,
      });
      const packet: SentPacket = { header, payload, sequenceNumber, resends: 0, isMissed: false };
      this.#sent[sequenceNumber % maxKept] = packet;
      return packet;
    });
  }

  /** Notes that the client lacks a packet. Returns true the first time, for one that is still kept. */
  miss(sequenceNumber: number): boolean {
    const packet = this.#sent[sequenceNumber % maxKept];
    if (packet?.sequenceNumber !== sequenceNumber || packet.isMissed) return false;
    packet.isMissed = true;
    return true;
  }

  /** Undefined when the packet is no longer kept, or was asked for too often. */
  again(sequenceNumber: number): OutgoingPacket | undefined {
    const packet = this.#sent[sequenceNumber % maxKept];
    if (packet?.sequenceNumber !== sequenceNumber || packet.resends >= maxResends) return undefined;
    packet.resends += 1;
    this.#resent += 1;
    return packet;
  }

  /** Undefined when nothing was sent since the last one. */
  report(nowMs: number): Buffer | undefined {
    const frame = this.#last;
    if (frame === undefined || frame === this.#reported) return undefined;
    this.#reported = frame;
    const report = { ssrc: this.ssrc, ntpMs: frame.ntpMs, rtpTimestamp: frame.timestamp % 2 ** 32 };
    const sent = { packets: this.#packets, bytes: this.#bytes };
    this.#reports = [...this.#reports.slice(-maxKeptReports), { ntpMiddle: ntpMiddleOf(frame.ntpMs), nowMs }];
    return Buffer.concat([writeSenderReport(report, sent), writeSourceDescription(this.ssrc, this.#name)]);
  }

  /** Time of a report that the client has repeated, by its {@link ntpMiddleOf}; undefined when it is no longer known. */
  reportSentAtMs(ntpMiddle: number): number | undefined {
    return this.#reports.find(report => report.ntpMiddle === ntpMiddle)?.nowMs;
  }
}
