import { randomInt } from 'node:crypto';
import type { RemoteInfo } from 'node:dgram';
import {
  datagramSocket,
  HANDSHAKE,
  type Handshake,
  readHandshake,
  srtMagic,
  writeHandshake,
} from '../../media/srt/handshake.ts';
import { CONTROL, type ControlPacket, readPacket, writeControl } from '../../media/srt/packet.ts';
import { windowPackets } from '../../media/srt/receive-buffer.ts';
import { REJECT, rejectionType } from '../../media/srt/reject-reason.ts';
import { messageOf } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { Component } from '../../shared/lifecycle.ts';
import { ConnectionLimiter, type ConnectionLimiterOptions } from '../../shared/network/connection-limiter.ts';
import { listenError } from '../../shared/network/listen-error.ts';
import { openUdpSocket, type UdpSocket } from '../../shared/network/udp-socket.ts';
import { unmappedAddress } from '../../shared/network/unmapped-address.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import { ThrottledLog } from '../../shared/throttled-log.ts';
import { HandshakeCookie } from './handshake-cookie.ts';
import { type SessionSettings, SrtSession } from './srt-session.ts';

export interface SrtServerOptions extends SessionSettings {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Further ones are refused. */
  readonly maxConnections: number;
  readonly perAddress: ConnectionLimiterOptions;
}

const tickMs = 10;

/** Receives publishers in caller mode on one UDP port. Nothing is kept of a peer before it has returned the cookie. */
export class SrtServer implements Component {
  readonly name = 'srt';
  readonly #options: SrtServerOptions;
  readonly #overload: ThrottledLog;
  readonly #cookie = new HandshakeCookie();
  readonly #counts: ConnectionLimiter;
  /** Sessions by our socket ID. */
  readonly #sessions = new Map<number, SrtSession>();
  /** Sessions by the peer's address, port and socket ID. */
  readonly #sessionsOfPeers = new Map<string, SrtSession>();
  readonly #ticks = new OnDemandInterval(tickMs, () => this.#tick());
  #socket: UdpSocket | undefined;
  #isDraining = false;

  constructor(options: SrtServerOptions) {
    this.#options = options;
    this.#overload = new ThrottledLog(options.log.child('srt'));
    this.#counts = new ConnectionLimiter(options.perAddress);
  }

  get isListening(): boolean {
    return this.#socket !== undefined;
  }

  /** The actual port once started. */
  get port(): number {
    return this.#socket?.port ?? this.#options.port;
  }

  /** @throws AppError `listen-failed` */
  async start(): Promise<void> {
    const { host, port, log } = this.#options;
    try {
      this.#socket = await openUdpSocket({
        host,
        port,
        receive: (datagram, from) => this.#receive(datagram, from),
        failed: error => this.#overload.warn('socket-failed', { error: messageOf(error) }),
      });
    } catch (error) {
      throw listenError(`SRT port ${port} (UDP)`, host, error);
    }
    log.child('srt').info('listening', { srtPort: this.port });
  }

  /** Existing publishers continue until {@link stop}. */
  async drain(): Promise<void> {
    this.#isDraining = true;
  }

  async stop(): Promise<void> {
    this.#isDraining = true;
    for (const session of [...this.#sessions.values()]) session.end('server-stopped');
    this.#ticks.stop();
    const socket = this.#socket;
    this.#socket = undefined;
    await socket?.close();
  }

  #receive(datagram: Buffer, from: RemoteInfo): void {
    const packet = readPacket(datagram);
    if (packet === undefined) return;
    if (packet.destination !== 0) {
      const session = this.#sessions.get(packet.destination);
      if (session?.isOf(from.address, from.port) === true) session.receive(packet, datagram.length);
    } else if (packet.kind === 'control' && packet.type === CONTROL.handshake) {
      this.#handshake(packet, from);
    }
  }

  #handshake(packet: ControlPacket, from: RemoteInfo): void {
    const request = readHandshake(packet.body);
    if (request === undefined) return;
    if (request.type === HANDSHAKE.induction) {
      if (request.extensionField === datagramSocket || request.version === 5) this.#induct(request, from);
    } else if (
      request.type === HANDSHAKE.conclusion &&
      this.#cookie.isValid(request.cookie, from.address, from.port, performance.now())
    ) {
      this.#conclude(request, from);
    }
  }

  /** Answers as many bytes as it received, so that forged addresses gain nothing. */
  #induct(request: Handshake, from: RemoteInfo): void {
    const cookie = this.#cookie.issue(from.address, from.port, performance.now());
    const { passphrase } = this.#options;
    this.#answer(request, from, {
      ...request,
      version: 5,
      // Suggests AES-128 to callers that have a passphrase and no choice of their own.
      encryption: passphrase === undefined ? 0 : 2,
      extensionField: srtMagic,
      flowWindow: windowPackets,
      cookie,
      extensions: Buffer.alloc(0),
    });
  }

  #conclude(request: Handshake, from: RemoteInfo): void {
    const { address, port } = from;
    const peer = `${address} ${port} ${request.socketId}`;
    const existing = this.#sessionsOfPeers.get(peer);
    if (existing !== undefined) {
      existing.repeatAnswer();
      return;
    }
    const remoteAddress = unmappedAddress(address);
    const reason = this.#sessions.size >= this.#options.maxConnections ? 'too-many-connections' : undefined;
    const closed = reason === undefined ? this.#counts.open(remoteAddress) : undefined;
    if (closed === undefined) {
      this.#refuseConnection(request, from, reason ?? 'too-many-connections-of-address');
      return;
    }
    const connectionId = newId('co');
    const session = new SrtSession({
      ...this.#options,
      connectionId,
      remoteAddress,
      request,
      peer: { address, port },
      socketId: this.#newSocketId(),
      send: datagram => this.#socket?.send(datagram, port, address),
      log: this.#options.log.child('srt', { connectionId, protocol: 'srt', remoteAddress }),
      isDraining: () => this.#isDraining,
      forgotten: () => {
        this.#sessions.delete(session.socketId);
        this.#sessionsOfPeers.delete(peer);
        closed();
      },
    });
    this.#sessions.set(session.socketId, session);
    this.#sessionsOfPeers.set(peer, session);
    this.#ticks.wake();
    void session.open();
  }

  #refuseConnection(request: Handshake, from: RemoteInfo, reason: string): void {
    this.#options.observer.refused(reason);
    this.#overload.warn('connection-refused', { reason, remoteAddress: from.address });
    const type = rejectionType(REJECT.overload);
    this.#answer(request, from, { ...request, type, extensionField: 0, extensions: Buffer.alloc(0) });
  }

  #answer({ socketId }: Handshake, { port, address }: RemoteInfo, answer: Handshake): void {
    const body = writeHandshake(answer);
    const packet = writeControl({ type: CONTROL.handshake, timestampUs: 0, destination: socketId, body });
    this.#socket?.send(packet, port, address);
  }

  /** Returns a socket ID that is not guessed easily, since the address of a publisher can be forged. */
  #newSocketId(): number {
    for (;;) {
      const socketId = randomInt(1, 2 ** 30);
      if (!this.#sessions.has(socketId)) return socketId;
    }
  }

  #tick(): boolean {
    for (const session of [...this.#sessions.values()]) session.tick();
    return this.#sessions.size > 0;
  }
}
