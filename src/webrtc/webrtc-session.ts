import { randomInt } from 'node:crypto';
import {
  readNacks,
  readReceptionReports,
  readSenderReports,
  type SenderReport,
  writeNack,
  writePictureLoss,
  writeReceiverReport,
} from '../media/rtp/rtcp.ts';
import { parseRtp } from '../media/rtp/rtp-packet.ts';
import { newId } from '../shared/ids.ts';
import type { DtlsCertificate } from './dtls/dtls-certificate.ts';
import { DtlsServer, type Fingerprint } from './dtls/dtls-server.ts';
import { IceAgent, transactionOf } from './ice/ice-agent.ts';
import { IcePath } from './ice/ice-path.ts';
import { STUN_TYPE, type StunMessage } from './ice/stun-message.ts';
import type { TransportPath } from './ice/transport-path.ts';
import { ArrivalLog } from './rtp/arrival-log.ts';
import { BandwidthEstimate } from './rtp/bandwidth-estimate.ts';
import type { OrderedPacket } from './rtp/jitter-buffer.ts';
import { ReceiveTrack } from './rtp/receive-track.ts';
import { type OutgoingFrame, SendTrack } from './rtp/send-track.ts';
import type { IceCredentials, MediaKind } from './sdp/session-description.ts';
import { type AcceptedMedia, streamName } from './sdp/write-answer.ts';
import { SrtpSession } from './srtp/srtp-session.ts';

export type WebRtcCloseReason = 'peer-closed' | 'handshake-failed' | 'connect-timeout' | 'idle-timeout';

export interface WebRtcSessionEvents {
  /** Media can flow, from `address`. */
  connected(path: { readonly protocol: 'udp' | 'tcp'; readonly address: string }): void;
  /** Called for each packet, in the order of sending. */
  packet?(track: ReceiveTrack, packet: OrderedPacket): void;
  senderReport?(track: ReceiveTrack, report: SenderReport): void;
  bytesIn?(count: number): void;
  /** Called many times a second once connected, so that protocols need no timer per client. */
  tick?(nowMs: number): void;
  /** Called unless the server closed the session. */
  closed(reason: WebRtcCloseReason, detail: string): void;
}

interface WebRtcSessionOptions {
  readonly certificate: DtlsCertificate;
  readonly fingerprints: readonly Fingerprint[];
  readonly remote: IceCredentials;
  readonly accepted: readonly AcceptedMedia[];
  readonly connectTimeoutMs: number;
  readonly idleTimeoutMs: number;
  readonly events: WebRtcSessionEvents;
  /** The agents by whose names the client can be found have changed. */
  agentsChanged(session: WebRtcSession): void;
  ended(session: WebRtcSession): void;
}

export const transportWideExtension =
  'http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01';

const feedbackEveryMs = 100;
const reportEveryMs = 1_000;
const usualRoundTripMs = 100;
/** Maximum packets resent for one RTCP packet. */
const maxResentAtOnce = 128;
/** Maximum packets that one RTCP packet may ask for: all that a track keeps. */
const maxRequestedAtOnce = 1_024;
/** Share of a limited bandwidth for resent packets. */
const resendShare = 0.25;
const maxSavedResendMs = 250;

/** One client: its ICE agent, its DTLS connection, and its tracks. */
export class WebRtcSession {
  readonly id = newId('rt');
  /** Tracks that the client sends. */
  readonly tracks: readonly ReceiveTrack[];
  /** Tracks that the server sends. */
  readonly sendTracks: readonly { readonly media: AcceptedMedia; readonly track: SendTrack }[];
  readonly #options: WebRtcSessionOptions;
  readonly #dtls: DtlsServer;
  readonly #openedAtMs = performance.now();
  readonly #ssrc = randomInt(1, 2 ** 32);
  readonly #arrivals = new ArrivalLog();
  /** Number of the header extension; undefined where it was not offered. */
  readonly #transportWideId: number | undefined;
  /** The newest first; one more during an ICE restart. */
  #agents: readonly IceAgent[];
  readonly #paths = new Map<TransportPath, IcePath>();
  readonly #bandwidth = new BandwidthEstimate();
  /** Bytes that may be resent while the bandwidth is limited. */
  #resendBytes = 0;
  #tickedAtMs = 0;
  #srtp: SrtpSession | undefined;
  #isClosed = false;
  #bytesIn = 0;
  #heardAtMs = 0;
  #feedbackAtMs = 0;
  #reportedAtMs = 0;

  constructor(options: WebRtcSessionOptions) {
    this.#options = options;
    this.tracks = options.accepted
      .filter(({ direction }) => direction === 'recvonly')
      .map(each => new ReceiveTrack({ ...each, kind: kindOf(each) }));
    this.sendTracks = options.accepted
      .filter(({ direction }) => direction === 'sendonly')
      .map(media => ({ media, track: new SendTrack(kindOf(media), media.codec, streamName) }));
    const withFeedback = options.accepted.find(each => each.extensions.includes(transportWideExtension));
    this.#transportWideId = withFeedback?.media.extensions.get(transportWideExtension);
    this.#agents = [new IceAgent(options.remote)];
    this.#dtls = new DtlsServer({
      certificate: options.certificate,
      fingerprints: options.fingerprints,
      send: datagram => this.#path?.send(datagram),
      connected: secrets => {
        this.#srtp = new SrtpSession(secrets);
        const { protocol = 'udp', address = '' } = this.#path ?? {};
        options.events.connected({ protocol, address });
      },
      closed: (reason, detail) => this.#end(reason, detail),
    });
  }

  /** Names of the agents, of which the first is that of {@link localCredentials}. */
  get usernameFragments(): readonly string[] {
    return this.#agents.map(({ local }) => local.usernameFragment);
  }

  get localCredentials(): IceCredentials {
    return this.#agents[0]!.local;
  }

  get remoteCredentials(): IceCredentials {
    return this.#agents[0]!.remote;
  }

  get bytesIn(): number {
    return this.#bytesIn;
  }

  get roundTripMs(): number | undefined {
    return this.#agents[0]!.roundTripMs;
  }

  /** The client connects from another network, with new credentials on both sides. RFC 8445, 9. */
  restartIce(remote: IceCredentials): void {
    // The former agent carries media until the client has reached the new one.
    this.#agents = [new IceAgent(remote), this.#agents[0]!];
    this.#options.agentsChanged(this);
  }

  requestKeyframe(track: ReceiveTrack): void {
    if (track.ssrc !== undefined) this.#sendRtcp(writePictureLoss(this.#ssrc, track.ssrc));
  }

  /** Drops the frame before the client is connected. @returns the bytes that were sent */
  sendFrame(track: SendTrack, frame: OutgoingFrame): number {
    const path = this.#path;
    if (this.#srtp === undefined || path === undefined || this.#isClosed) return 0;
    let bytes = 0;
    for (const packet of track.packets(frame)) {
      const sealed = this.#srtp.sealRtp(packet);
      for (const part of sealed) bytes += part.length;
      path.send(sealed);
    }
    this.#bandwidth.sent(frame.payloads.length, bytes);
    return bytes;
  }

  /** Bits per second that the network carries, as far as the client's reports tell; infinite without congestion. */
  get sendLimit(): number {
    return this.#bandwidth.bitsPerSecond;
  }

  /** False while a path over TCP takes no more. */
  get canSend(): boolean {
    return this.#srtp !== undefined && this.#path?.isCongested !== true;
  }

  /** Returns false for messages that are not of this client. */
  receiveStun(message: StunMessage, transport: TransportPath): boolean {
    const nowMs = performance.now();
    const isRequest = message.type === STUN_TYPE.request;
    const known = this.#paths.get(transport);
    const isExpected = message.type === STUN_TYPE.success && known?.hasOpenCheck(transactionOf(message));
    if (!isRequest && isExpected !== true) return false;
    const agent = this.#agents.find(each => each.isAuthentic(message));
    if (agent === undefined) return false;
    const path = known ?? new IcePath(transport);
    this.#paths.set(transport, path);
    path.received(message.bytes.length, nowMs);
    if (isRequest) agent.receiveRequest(message, path, nowMs);
    else agent.receiveAnswer(message, path, nowMs);
    this.#hear(path, nowMs);
    if (agent === this.#agents[0] && this.#agents.length > 1 && agent.selected !== undefined) {
      this.#agents = [agent];
      this.#options.agentsChanged(this);
    }
    if (path.hasConsent(nowMs)) for (const packet of path.takeEarlyPackets()) this.#dtls.receive(packet);
    return true;
  }

  /** The client has answered a check from there, not long ago. */
  hasConsent(transport: TransportPath): boolean {
    return this.#paths.get(transport)?.hasConsent(performance.now()) === true;
  }

  /** @param packet not kept @param transport from which a STUN message of this client came */
  receive(packet: Buffer, transport: TransportPath): void {
    const path = this.#paths.get(transport);
    if (this.#isClosed || packet.length < 2 || path === undefined) return;
    const nowMs = performance.now();
    path.received(packet.length, nowMs);
    if (transport !== this.#path) for (const agent of this.#agents) agent.use(path, nowMs);
    this.#bytesIn += packet.length;
    this.#options.events.bytesIn?.(packet.length);
    const first = packet[0]!;
    // RFC 7983, 7.
    if (first >= 20 && first <= 63) {
      // A handshake is not authenticated, and anyone may have repeated a check of the client from there.
      if (this.#srtp !== undefined || path.hasConsent(nowMs)) this.#dtls.receive(packet);
      else path.keepEarlyPacket(packet);
    } else if (first >= 128 && first <= 191) {
      const isRtcp = packet[1]! >= 192 && packet[1]! <= 223;
      if (isRtcp) this.#receiveRtcp(packet, path);
      else this.#receiveRtp(packet, path);
    }
  }

  /** A path of this client ended. */
  forgetPath(transport: TransportPath): void {
    const path = this.#paths.get(transport);
    this.#paths.delete(transport);
    if (path !== undefined) for (const agent of this.#agents) agent.forget(path);
  }

  /** Tells the client. */
  close(): void {
    if (this.#isClosed) return;
    this.#dtls.close();
    this.#release();
  }

  get #path(): TransportPath | undefined {
    return this.#agents.find(({ selected }) => selected !== undefined)?.selected?.transport;
  }

  /** Notes a packet. Without consent, anyone may have repeated a packet of the client. */
  #hear(path: IcePath, nowMs: number): void {
    if (path.hasConsent(nowMs)) this.#heardAtMs = nowMs;
  }

  #receiveRtp(bytes: Buffer, path: IcePath): void {
    const opened = this.#srtp?.openRtp(bytes);
    const packet = opened && parseRtp(opened);
    if (packet === undefined) return;
    const nowMs = performance.now();
    this.#hear(path, nowMs);
    const number = this.#transportWideId && packet.extensions.get(this.#transportWideId);
    if (number instanceof Buffer && number.length === 2) this.#arrivals.add(number.readUInt16BE(), nowMs);
    const track = this.tracks.find(each => each.push(packet, nowMs));
    if (track !== undefined) this.#deliver(track, nowMs);
  }

  #receiveRtcp(bytes: Buffer, path: IcePath): void {
    const opened = this.#srtp?.openRtcp(bytes);
    if (opened === undefined) return;
    const nowMs = performance.now();
    this.#hear(path, nowMs);
    if (this.sendTracks.length > 0) {
      this.#estimate(opened, nowMs);
      this.#resend(opened);
    }
    for (const report of readSenderReports(opened)) {
      const track = this.tracks.find(({ ssrc }) => ssrc === report.ssrc);
      if (track === undefined) continue;
      track.senderReport(report, nowMs);
      this.#options.events.senderReport?.(track, report);
    }
  }

  #estimate(rtcp: Buffer, nowMs: number): void {
    for (const { mediaSsrc, packetsLost, lastReport } of readReceptionReports(rtcp)) {
      const found = this.sendTracks.find(({ track }) => track.ssrc === mediaSsrc);
      if (found?.track.kind !== 'video') continue;
      const sentAtMs = lastReport && found.track.reportSentAtMs(lastReport.ntpMiddle);
      const roundTripMs = sentAtMs && Math.max(0, nowMs - sentAtMs - lastReport!.delayMs);
      this.#bandwidth.reported(packetsLost, roundTripMs);
    }
  }

  #resend(rtcp: Buffer): void {
    let allowed = maxResentAtOnce;
    for (const { mediaSsrc, sequenceNumbers } of readNacks(rtcp, maxRequestedAtOnce)) {
      const found = this.sendTracks.find(({ track }) => track.ssrc === mediaSsrc);
      for (const number of found === undefined ? [] : sequenceNumbers) {
        if (found?.track.miss(number)) this.#bandwidth.missed();
        if (this.#srtp === undefined || this.#resendBytes <= 0 || allowed === 0) continue;
        const packet = found?.track.again(number);
        if (packet === undefined) continue;
        allowed -= 1;
        const bytes = packet.header.length + packet.payload.length;
        this.#resendBytes -= bytes;
        this.#bandwidth.sent(1, bytes);
        this.#path?.send(this.#srtp.sealRtp(packet));
      }
    }
  }

  #refillResends(nowMs: number): void {
    const bytesPerMs = (this.#bandwidth.bitsPerSecond * resendShare) / 8_000;
    const added = bytesPerMs * Math.max(1, nowMs - this.#tickedAtMs);
    this.#resendBytes = Math.min(this.#resendBytes + added, bytesPerMs * maxSavedResendMs);
    this.#tickedAtMs = nowMs;
  }

  #deliver(track: ReceiveTrack, nowMs: number): void {
    for (const packet of track.pull(nowMs)) {
      if (this.#isClosed) return;
      this.#options.events.packet?.(track, packet);
    }
  }

  /** Call it every 25 ms. */
  tick(nowMs: number): void {
    for (const agent of this.#agents) agent.tick(nowMs);
    if (this.#srtp === undefined) {
      if (nowMs - this.#openedAtMs < this.#options.connectTimeoutMs) return;
      const detail =
        this.#paths.size === 0
          ? 'The client did not connect. Check that its network can reach the WebRTC port of the server.'
          : 'The client reached the server but did not finish connecting. Check that it answers connectivity checks (ICE), and that no firewall drops packets to it.';
      this.#end('connect-timeout', detail);
      return;
    }
    if (nowMs - this.#heardAtMs >= this.#options.idleTimeoutMs) {
      this.#end('idle-timeout', 'Nothing was received from the client.');
      return;
    }
    this.#bandwidth.tick(nowMs);
    this.#refillResends(nowMs);
    for (const track of this.tracks) {
      if (track.isWaiting) this.#deliver(track, nowMs);
      this.#requestMissing(track, nowMs);
    }
    this.#options.events.tick?.(nowMs);
    if (this.#isClosed) return;
    if (nowMs - this.#feedbackAtMs >= feedbackEveryMs) this.#sendFeedback(nowMs);
    if (nowMs - this.#reportedAtMs >= reportEveryMs) this.#sendReport(nowMs);
  }

  #requestMissing(track: ReceiveTrack, nowMs: number): void {
    const { ssrc } = track;
    if (!track.isWaiting || ssrc === undefined) return;
    const numbers = track.requests(nowMs, this.roundTripMs ?? usualRoundTripMs);
    if (numbers.length > 0) this.#sendRtcp(writeNack(this.#ssrc, ssrc, numbers));
  }

  #sendFeedback(nowMs: number): void {
    this.#feedbackAtMs = nowMs;
    const mediaSsrc = this.tracks.find(({ ssrc }) => ssrc !== undefined)?.ssrc;
    if (mediaSsrc === undefined) return;
    const report = this.#arrivals.report(this.#ssrc, mediaSsrc);
    if (report !== undefined) this.#sendRtcp(report);
  }

  #sendReport(nowMs: number): void {
    this.#reportedAtMs = nowMs;
    const reports = this.tracks.flatMap(track => track.report(nowMs) ?? []);
    if (reports.length > 0) this.#send(writeReceiverReport(this.#ssrc, reports));
    for (const { track } of this.sendTracks) {
      const report = track.report(nowMs);
      if (report !== undefined) this.#send(report);
    }
  }

  /** Sends a packet behind a report, with which all compound packets begin. RFC 3550, 6.1. */
  #sendRtcp(packet: Buffer): void {
    this.#send(Buffer.concat([writeReceiverReport(this.#ssrc, []), packet]));
  }

  #send(rtcp: Buffer): void {
    if (this.#srtp !== undefined) this.#path?.send(this.#srtp.sealRtcp(rtcp));
  }

  #end(reason: WebRtcCloseReason, detail: string): void {
    if (this.#isClosed) return;
    this.#dtls.close();
    this.#release();
    this.#options.events.closed(reason, detail);
  }

  #release(): void {
    this.#isClosed = true;
    this.#options.ended(this);
  }
}

function kindOf({ media }: AcceptedMedia): MediaKind {
  return media.kind === 'audio' ? 'audio' : 'video';
}
