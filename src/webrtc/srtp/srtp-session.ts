import { rtpHeaderBytes } from '../../media/rtp/rtp-packet.ts';
import type { SrtpSecrets } from '../dtls/dtls-server.ts';
import { ReplayWindow } from '../replay-window.ts';
import type { OutgoingPacket } from '../rtp/send-track.ts';
import { createPacketCipher, type PacketCipher } from './packet-cipher.ts';

/** Sequence number with its wraps, by SSRC. RFC 3711, 3.3.1. */
interface Source {
  highest: number;
  readonly received: ReplayWindow;
}

/** Two tracks have one each, and one more after each restart of an encoder. */
const maxSources = 32;
/** Seconds of video: retransmissions come late. */
const replayWindowPackets = 4_096;
const replayWindowRtcp = 128;
const minRtcpBytes = 8;

/** Protects what the server sends, and opens what the client sends. RFC 3711. */
export class SrtpSession {
  readonly #incoming: PacketCipher;
  readonly #outgoing: PacketCipher;
  readonly #sources = new Map<number, Source>();
  /** Replay windows of RTCP, by SSRC. */
  readonly #reports = new Map<number, ReplayWindow>();
  /** Newest sequence numbers that were sent, by SSRC. */
  readonly #sent = new Map<number, number>();
  #rtcpIndex = 0;

  constructor({ profile, client, server }: SrtpSecrets) {
    this.#incoming = createPacketCipher(profile, client);
    this.#outgoing = createPacketCipher(profile, server);
  }

  /** Undefined for packets that are malformed, not authentic or replayed. */
  openRtp(packet: Buffer): Buffer | undefined {
    const headerBytes = rtpHeaderBytes(packet);
    if (headerBytes === undefined) return undefined;
    const ssrc = packet.readUInt32BE(8);
    const source = this.#sources.get(ssrc);
    const number = extendedNumber(source?.highest, packet.readUInt16BE(2));
    if (number < 0 || source?.received.isFresh(number) === false) return undefined;
    if (source === undefined && this.#sources.size >= maxSources) return undefined;
    const opened = this.#incoming.openRtp(packet, headerBytes, Math.floor(number / 0x10000));
    if (opened === undefined) return undefined;
    const known = source ?? { highest: number, received: new ReplayWindow(replayWindowPackets) };
    known.highest = Math.max(known.highest, number);
    known.received.add(number);
    this.#sources.set(ssrc, known);
    return opened;
  }

  openRtcp(packet: Buffer): Buffer | undefined {
    if (packet.length < minRtcpBytes) return undefined;
    const opened = this.#incoming.openRtcp(packet);
    if (opened === undefined) return undefined;
    const ssrc = packet.readUInt32BE(4);
    const window = this.#reports.get(ssrc) ?? new ReplayWindow(replayWindowRtcp);
    if (!window.isFresh(opened.index)) return undefined;
    if (!this.#reports.has(ssrc) && this.#reports.size >= maxSources) return undefined;
    window.add(opened.index);
    this.#reports.set(ssrc, window);
    return opened.packet;
  }

  /** A retransmission with the same bytes is the same packet; its number may be old. @returns the parts of the datagram */
  sealRtp({ header, payload }: OutgoingPacket): readonly Buffer[] {
    const ssrc = header.readUInt32BE(8);
    const newest = this.#sent.get(ssrc);
    const number = extendedNumber(newest, header.readUInt16BE(2));
    this.#sent.set(ssrc, Math.max(newest ?? 0, number));
    return this.#outgoing.sealRtp(header, payload, Math.floor(number / 0x10000));
  }

  sealRtcp(packet: Buffer): Buffer {
    this.#rtcpIndex = (this.#rtcpIndex + 1) % 0x80000000;
    return this.#outgoing.sealRtcp(packet, this.#rtcpIndex);
  }
}

/** The nearest number to `highest` that ends in `sequence`; negative when it is before the first. */
export function extendedNumber(highest: number | undefined, sequence: number): number {
  if (highest === undefined) return sequence;
  const difference = ((sequence - highest) << 16) >> 16;
  return highest + difference;
}
