import type { RemoteInfo } from 'node:dgram';
import { createServer, isIPv6, type Server, type Socket } from 'node:net';
import { messageOf } from '../shared/errors.ts';
import type { Component } from '../shared/lifecycle.ts';
import type { Logger } from '../shared/logger.ts';
import { ConnectionLimiter, type ConnectionLimiterOptions } from '../shared/network/connection-limiter.ts';
import { listenError } from '../shared/network/listen-error.ts';
import { openUdpSocket, type UdpSocket } from '../shared/network/udp-socket.ts';
import { unmappedAddress } from '../shared/network/unmapped-address.ts';
import { OnDemandInterval } from '../shared/scheduling/on-demand-interval.ts';
import { ThrottledLog } from '../shared/throttled-log.ts';
import { createDtlsCertificate, type DtlsCertificate } from './dtls/dtls-certificate.ts';
import { FramedConnection } from './ice/framed-connection.ts';
import { hostCandidates, type IceCandidate } from './ice/ice-candidates.ts';
import {
  parseStun,
  STUN_ATTRIBUTE,
  STUN_TYPE,
  type StunMessage,
  writeStun,
  xorMappedAddress,
} from './ice/stun-message.ts';
import type { TransportPath } from './ice/transport-path.ts';
import { transportOf } from './sdp/offer-problem.ts';
import type { SessionDescription } from './sdp/session-description.ts';
import { type AcceptedMedia, writeAnswer } from './sdp/write-answer.ts';
import { WebRtcSession, type WebRtcSessionEvents } from './webrtc-session.ts';

/*
 * WebRTC over one UDP port and the TCP port of the same number, for all clients.
 *
 * A protocol (WHIP, and WHEP in the other direction) parses the client's offer (`parseSessionDescription`), chooses the
 * media and one codec for each, checks the rest (`offerProblem`), and calls `WebRtcServer.open`, which returns the answer
 * and a `WebRtcSession`. A session belongs to one client and shares nothing with others but the sockets:
 *
 *   socket ─ STUN ─> IceAgent: credentials, paths on which the client answers, the selected one, round trip
 *          ─ DTLS ─> DtlsServer: keys, from the certificate whose fingerprint the SDP has
 *          ─ SRTP ─> SrtpSession ─> ReceiveTrack: order, retransmission, reports ─> events.packet
 *
 * The tracks are `AcceptedMedia`. For those that the server receives, the session reports, asks for lost packets and for
 * bandwidth estimation by itself, and the protocol asks for keyframes. For those that it sends, the protocol calls
 * `WebRtcSession.sendFrame`, and the session repeats lost packets and reports from its `SendTrack`.
 */

interface WebRtcServerOptions {
  readonly host: string;
  /** UDP and TCP. 0 picks a free one. */
  readonly port: number;
  /** Addresses to announce, the best one first. */
  addresses(): Promise<readonly string[]>;
  /** TCP connections, before and after their client is known. */
  readonly maxConnections: number;
  readonly perAddress: ConnectionLimiterOptions;
  readonly log: Logger;
  /** 15,000 unless given. */
  readonly connectTimeoutMs?: number;
  /** 10,000 unless given. Clients send a check every few seconds. */
  readonly idleTimeoutMs?: number;
}

interface OpenedSession {
  readonly session: WebRtcSession;
  readonly answer: string;
}

interface SessionRequest {
  /** An offer without an {@link offerProblem}. */
  readonly offer: SessionDescription;
  /** Accepted media; never empty. */
  readonly accepted: readonly AcceptedMedia[];
  /** Announced as well, before the configured ones, such as the address that the client has used for HTTP. */
  readonly address: string | undefined;
  readonly events: WebRtcSessionEvents;
}

const maxBindTries = 8;
/** One timer for all sessions: one for each would wake up the event loop as often as there are sessions. */
const tickMs = 25;
const verifyTimeoutMs = 10_000;
/** Addresses of one client: its networks, and their NAT mappings. */
const maxPathsPerSession = 24;
const dayMs = 86_400_000;
const certificateDays = 300;

/** A UDP address from which a client has authenticated itself. */
interface UdpPath extends TransportPath {
  readonly key: string;
}

export class WebRtcServer implements Component {
  readonly name = 'webrtc';
  readonly #options: WebRtcServerOptions;
  readonly #log: Logger;
  readonly #overload: ThrottledLog;
  readonly #limiter: ConnectionLimiter;
  readonly #byFragment = new Map<string, WebRtcSession>();
  /** Clients that have authenticated themselves on a path. Anyone can send in the name of a UDP address, so they may be several. */
  readonly #byPath = new Map<TransportPath, Set<WebRtcSession>>();
  readonly #udpPaths = new Map<string, UdpPath>();
  readonly #pathsOf = new Map<WebRtcSession, Set<TransportPath>>();
  readonly #connections = new Set<FramedConnection>();
  readonly #sweep: OnDemandInterval;
  readonly #ticker: OnDemandInterval;
  #udp: UdpSocket | undefined;
  #tcp: Server | undefined;
  #port: number;
  #certificate: { readonly value: DtlsCertificate; readonly createdAtMs: number } | undefined;

  constructor(options: WebRtcServerOptions) {
    this.#options = options;
    this.#port = options.port;
    this.#log = options.log.child('webrtc');
    this.#overload = new ThrottledLog(this.#log);
    this.#limiter = new ConnectionLimiter(options.perAddress);
    this.#sweep = new OnDemandInterval(1_000, () => this.#closeUnverified());
    this.#ticker = new OnDemandInterval(tickMs, () => this.#tickSessions());
  }

  /** The actual port once started. */
  get port(): number {
    return this.#port;
  }

  get sessions(): number {
    return this.#pathsOf.size;
  }

  /** @throws AppError `listen-failed` */
  async start(): Promise<void> {
    try {
      await this.#listen();
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#log.info('listening', { port: this.#port });
  }

  async stop(): Promise<void> {
    this.#sweep.stop();
    this.#ticker.stop();
    for (const session of [...this.#pathsOf.keys()]) session.close();
    for (const connection of this.#connections) connection.close();
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#tcp?.listening) this.#tcp.close(() => resolve());
    else resolve();
    const udp = this.#udp;
    this.#udp = undefined;
    await Promise.all([udp?.close(), promise]);
  }

  async open({ offer, accepted, address, events }: SessionRequest): Promise<OpenedSession> {
    const transport = transportOf(offer)!;
    const session = new WebRtcSession({
      accepted,
      events,
      fingerprints: transport.fingerprints,
      remote: transport.ice!,
      certificate: this.#currentCertificate(),
      connectTimeoutMs: this.#options.connectTimeoutMs ?? 15_000,
      idleTimeoutMs: this.#options.idleTimeoutMs ?? 10_000,
      agentsChanged: changed => this.#register(changed),
      ended: ended => this.#forget(ended),
    });
    this.#pathsOf.set(session, new Set());
    this.#ticker.wake();
    this.#register(session);
    const answer = writeAnswer({
      offer,
      accepted,
      ice: session.localCredentials,
      sources: new Map(session.sendTracks.map(({ media, track }) => [media, track.ssrc])),
      sessionId: String(Date.now()),
      fingerprint: this.#currentCertificate().fingerprint,
      candidates: await this.candidates(address),
    });
    return { session, answer };
  }

  /** @param address announced before the configured ones */
  async candidates(address: string | undefined): Promise<IceCandidate[]> {
    const addresses = [...(address === undefined ? [] : [address]), ...(await this.#options.addresses())];
    return hostCandidates(addresses, this.#port, isIPv6(this.#options.host));
  }

  /** New before the old one expires; sessions keep theirs. */
  #currentCertificate(): DtlsCertificate {
    const nowMs = Date.now();
    if (this.#certificate === undefined || nowMs - this.#certificate.createdAtMs > certificateDays * dayMs) {
      this.#certificate = { value: createDtlsCertificate(nowMs), createdAtMs: nowMs };
    }
    return this.#certificate.value;
  }

  #register(session: WebRtcSession): void {
    for (const [fragment, owner] of this.#byFragment)
      if (owner === session) this.#byFragment.delete(fragment);
    for (const fragment of session.usernameFragments) this.#byFragment.set(fragment, session);
  }

  #forget(session: WebRtcSession): void {
    for (const [fragment, owner] of this.#byFragment)
      if (owner === session) this.#byFragment.delete(fragment);
    for (const path of this.#pathsOf.get(session) ?? []) this.#leavePath(path, session);
    this.#pathsOf.delete(session);
  }

  #receive(packet: Buffer, path: TransportPath): void {
    if (packet[0]! > 3) {
      this.#ownerOf(path)?.receive(packet, path);
      return;
    }
    const message = parseStun(packet);
    if (message === undefined) return;
    if (message.type === STUN_TYPE.request) {
      const username = message.attributes.get(STUN_ATTRIBUTE.username)?.toString('latin1');
      if (username === undefined) {
        answerProbe(message, path);
        return;
      }
      const session = this.#byFragment.get(username.split(':', 1)[0]!);
      if (session?.receiveStun(message, path)) this.#joinPath(path, session);
      return;
    }
    // Answers have no user name.
    for (const session of this.#byPath.get(path) ?? []) if (session.receiveStun(message, path)) return;
  }

  /** The client to whom packets from there belong. Nobody else gets them while it answers checks from there. */
  #ownerOf(path: TransportPath): WebRtcSession | undefined {
    let newest: WebRtcSession | undefined;
    for (const session of this.#byPath.get(path) ?? []) {
      if (session.hasConsent(path)) return session;
      newest = session;
    }
    return newest;
  }

  #joinPath(path: TransportPath, session: WebRtcSession): void {
    const paths = this.#pathsOf.get(session);
    if (paths === undefined || paths.has(path)) return;
    if (paths.size >= maxPathsPerSession) {
      const [oldest] = paths;
      this.#leavePath([...paths].find(each => !session.hasConsent(each)) ?? oldest!, session);
    }
    paths.add(path);
    const sessions = this.#byPath.get(path) ?? new Set();
    this.#byPath.set(path, sessions.add(session));
    if (path instanceof FramedConnection) path.verify();
    else this.#udpPaths.set(keyOf(path), path as UdpPath);
  }

  #leavePath(path: TransportPath, session: WebRtcSession): void {
    this.#pathsOf.get(session)?.delete(path);
    session.forgetPath(path);
    const sessions = this.#byPath.get(path);
    sessions?.delete(session);
    if (sessions?.size !== 0) return;
    this.#byPath.delete(path);
    if (path.protocol === 'udp') this.#udpPaths.delete(keyOf(path));
    path.close();
  }

  /** Listens on UDP and TCP. A free UDP port may be taken for TCP, so port 0 is tried again. */
  async #listen(): Promise<void> {
    const { port } = this.#options;
    for (let tries = 1; ; tries++) {
      const udp = await this.#openUdp(port);
      this.#udp = udp;
      this.#port = udp.port;
      try {
        await this.#listenTcp(this.#port);
        return;
      } catch (error) {
        if (port !== 0 || tries === maxBindTries) throw error;
        await udp.close();
      }
    }
  }

  async #openUdp(port: number): Promise<UdpSocket> {
    try {
      return await openUdpSocket({
        host: this.#options.host,
        port,
        receive: (packet, from) => this.#receiveUdp(packet, from),
        // The client may be unreachable; its session ends when nothing more is heard.
        failed: error => this.#overload.warn('udp-failed', { error: messageOf(error) }),
      });
    } catch (error) {
      throw listenError(`WebRTC port ${port} (UDP)`, this.#options.host, error);
    }
  }

  #receiveUdp(packet: Buffer, { address, port }: RemoteInfo): void {
    if (packet.length === 0) return;
    const known = this.#udpPaths.get(`${address} ${port}`);
    if (known !== undefined) this.#receive(packet, known);
    else if (packet[0]! <= 3) this.#receive(packet, this.#createUdpPath(address, port));
  }

  #createUdpPath(address: string, port: number): UdpPath {
    return {
      key: `${address} ${port}`,
      protocol: 'udp',
      address: unmappedAddress(address),
      port,
      isCongested: false,
      send: packet => this.#udp?.send(packet, port, address),
      close: () => {},
    };
  }

  async #listenTcp(port: number): Promise<void> {
    const { host } = this.#options;
    const server = createServer({ noDelay: true }, socket => this.#accept(socket));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen({ port, host }, resolve);
    try {
      await promise;
    } catch (error) {
      throw listenError(`WebRTC port ${port} (TCP)`, host, error);
    }
    server.off('error', reject);
    server.on('error', error => this.#overload.warn('accept-failed', { error: messageOf(error) }));
    this.#tcp = server;
  }

  #accept(socket: Socket): void {
    const isFull = this.#connections.size >= this.#options.maxConnections;
    const closed = isFull ? undefined : this.#limiter.open(socket.remoteAddress ?? '');
    if (closed === undefined) {
      const reason = isFull ? 'too-many-connections' : 'too-many-connections-of-address';
      this.#overload.warn('connection-refused', { reason, remoteAddress: socket.remoteAddress });
      socket.destroy();
      return;
    }
    socket.once('close', closed);
    const connection = new FramedConnection(
      socket,
      {
        packet: (packet, path) => this.#receive(packet, path),
        closed: path => {
          this.#connections.delete(path);
          for (const session of this.#byPath.get(path) ?? []) this.#leavePath(path, session);
        },
      },
      performance.now(),
    );
    this.#connections.add(connection);
    this.#sweep.wake();
  }

  #tickSessions(): boolean {
    const nowMs = performance.now();
    for (const session of this.#pathsOf.keys()) session.tick(nowMs);
    return this.#pathsOf.size > 0;
  }

  #closeUnverified(): boolean {
    const limitMs = performance.now() - verifyTimeoutMs;
    for (const connection of this.#connections) {
      if (!connection.isVerified && connection.openedAtMs < limitMs) connection.close();
    }
    return this.#connections.size > 0;
  }
}

/**
 * Tells a client without a session that the port can be reached, with at most as many bytes as it received, so that forged
 * addresses gain nothing. RFC 8489, 6.3.1.
 */
function answerProbe({ bytes, transactionId, attributes }: StunMessage, path: TransportPath): void {
  if (!attributes.has(STUN_ATTRIBUTE.fingerprint)) return;
  const value = xorMappedAddress(path, transactionId);
  const answer = writeStun(STUN_TYPE.success, transactionId, [
    { type: STUN_ATTRIBUTE.xorMappedAddress, value },
  ]);
  if (answer.length <= bytes.length) path.send(answer);
}

function keyOf(path: TransportPath): string {
  return (path as UdpPath).key;
}
