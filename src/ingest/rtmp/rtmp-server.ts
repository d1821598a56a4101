import { createServer, type Server, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  type TLSSocket,
  type Server as TlsServer,
} from 'node:tls';
import { AppError, messageOf, systemCodeOf } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { ConnectionLimiter, type ConnectionLimiterOptions } from '../../shared/network/connection-limiter.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import { ThrottledLog } from '../../shared/throttled-log.ts';
import { type IngestObserver, noopIngestObserver } from '../ingest-observer.ts';
import type { PublishGate } from '../publish-gate.ts';
import { redirectLibraryLog } from './library-log.ts';
import { RtmpSession } from './rtmp-session.ts';

export type { IngestObserver } from '../ingest-observer.ts';

/** RTMP inside TLS. */
export interface RtmpsOptions {
  /** 0 picks a free one. */
  readonly port: number;
  /** Certificate and key in PEM; asked at the start and at each change. */
  secureContext(): SecureContextOptions;
  /** Calls the listener when the certificate has changed. Connections that stand keep theirs. */
  onChange?(listener: () => void): void;
}

/** Settings of {@link RtmpServer}. */
export interface RtmpServerOptions {
  /** Address of both listeners. */
  readonly host: string;
  /** 0 picks a free one. */
  readonly rtmpPort: number;
  readonly rtmps?: RtmpsOptions;
  /** Of both listeners together; what comes beyond is closed at once. */
  readonly maxConnections: number;
  /** Limits on the connections of one address; none unless given. */
  readonly perAddress?: ConnectionLimiterOptions;
  /** Longest from opening to the handshake's end, from there to publish, and from publish to the gate's answer. */
  readonly handshakeTimeoutMs: number;
  /** Longest that a publisher may send nothing. */
  readonly idleTimeoutMs: number;
  /** Longest audio or video message. */
  readonly maxMessageBytes: number;
  /** Maximum messages per second from one connection, averaged over ten. */
  readonly maxMessageRate: number;
  readonly gate: PublishGate;
  readonly log: Logger;
  readonly observer?: IngestObserver;
}

/** An accepted socket; a session only once the peer has said something, so that silent ones cost little. */
interface Connection {
  readonly raw: Socket;
  readonly openedAtMs: number;
  session: RtmpSession | undefined;
  /** Why it ended when it never had a session. */
  closeReason: string | undefined;
}

const backlog = 1_024;
/** Time for encoders to read why the server goes. */
const stopGraceMs = 250;

/** Listens for broadcasters on RTMP and RTMPS, and asks the gate about each that wants to publish. */
export class RtmpServer implements Component {
  readonly name = 'ingest';
  readonly #options: RtmpServerOptions;
  readonly #log: Logger;
  readonly #observer: IngestObserver;
  readonly #overload: ThrottledLog;
  readonly #counts: ConnectionLimiter;
  readonly #connections = new Set<Connection>();
  /** Connections in their TLS handshake, by the peer's address and port. */
  readonly #securing = new Map<string, Connection>();
  readonly #listeners: Server[] = [];
  #tls: TlsServer | undefined;
  #rtmpPort: number;
  #rtmpsPort: number | undefined;
  readonly #sweeps: OnDemandInterval;
  #isDraining = false;
  #isStopped = false;

  constructor(options: RtmpServerOptions) {
    this.#options = options;
    this.#log = options.log.child('ingest');
    this.#observer = options.observer ?? noopIngestObserver;
    this.#overload = new ThrottledLog(this.#log);
    this.#counts = new ConnectionLimiter(options.perAddress ?? { maxPerAddress: 0, isExempt: () => true });
    this.#rtmpPort = options.rtmpPort;
    this.#rtmpsPort = options.rtmps?.port;
    const shortestMs = Math.min(options.handshakeTimeoutMs, options.idleTimeoutMs);
    const sweepEveryMs = Math.min(1_000, Math.max(20, shortestMs / 10));
    this.#sweeps = new OnDemandInterval(sweepEveryMs, () => this.#sweep());
  }

  /** Encoders can connect. */
  get isListening(): boolean {
    return this.#listeners.some(server => server.listening);
  }

  /** The port in use once started. */
  get rtmpPort(): number {
    return this.#rtmpPort;
  }

  /** The port in use once started; undefined without RTMPS. */
  get rtmpsPort(): number | undefined {
    return this.#rtmpsPort;
  }

  /** @throws AppError `listen-failed` or `tls-unusable` */
  async start(): Promise<void> {
    const { rtmps, rtmpPort } = this.#options;
    redirectLibraryLog(this.#log);
    try {
      if (rtmps !== undefined) this.#tls = this.#createTls(rtmps);
      this.#rtmpPort = await this.#listen('RTMP', rtmpPort, raw => this.#acceptPlain(raw));
      if (rtmps !== undefined) {
        this.#rtmpsPort = await this.#listen('RTMPS', rtmps.port, raw => this.#acceptSecure(raw));
      }
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#log.info('listening', { rtmpPort: this.#rtmpPort, rtmpsPort: this.#rtmpsPort });
  }

  /** From now on every publish is refused with a word of why; publishers that run go on until {@link stop}. */
  async drain(): Promise<void> {
    this.#isDraining = true;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#sweeps.stop();
    const closed = this.#listeners.map(listener => new Promise(resolve => listener.close(resolve)));
    for (const connection of this.#connections) {
      if (connection.session === undefined) connection.raw.destroy();
      else connection.session.stop();
    }
    const timer = setTimeout(() => {
      for (const connection of this.#connections) connection.raw.destroy();
    }, stopGraceMs);
    await Promise.all(closed);
    clearTimeout(timer);
  }

  async #listen(what: string, port: number, accept: (raw: Socket) => void): Promise<number> {
    const { host } = this.#options;
    const server = createServer({ noDelay: true }, accept);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen({ port, host, backlog }, resolve);
    try {
      await promise;
    } catch (error) {
      throw listenError(what, host, port, error);
    }
    server.off('error', reject);
    // A failed accept, as when the process is out of file descriptors, is reported here.
    server.on('error', error => this.#overload.warn('accept-failed', { error: messageOf(error) }));
    this.#listeners.push(server);
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  #createTls(rtmps: RtmpsOptions): TlsServer {
    // The sweep ends a slow handshake; Node's own timer at the same time would leave the reason to chance.
    const handshakeTimeout = this.#options.handshakeTimeoutMs * 2;
    let tls: TlsServer;
    try {
      tls = createTlsServer({ ...rtmps.secureContext(), handshakeTimeout });
    } catch (error) {
      throw new AppError('tls-unusable', `The RTMPS certificate cannot be used: ${messageOf(error)}`, {
        cause: error,
      });
    }
    tls.on('secureConnection', socket => this.#takeSecured(socket));
    tls.on('tlsClientError', (error, socket) => this.#takeTlsFailure(error, socket));
    rtmps.onChange?.(() => this.#reloadCertificate(tls, rtmps));
    return tls;
  }

  #reloadCertificate(tls: TlsServer, rtmps: RtmpsOptions): void {
    if (this.#isStopped) return;
    try {
      tls.setSecureContext(rtmps.secureContext());
      this.#log.info('certificate-reloaded');
    } catch (error) {
      this.#log.error('certificate-reload-failed', { error });
    }
  }

  #open(raw: Socket): Connection | undefined {
    if (this.#connections.size >= this.#options.maxConnections) {
      this.#refuseConnection(raw, 'too-many-connections');
      return undefined;
    }
    const closed = this.#counts.open(addressOf(raw));
    if (closed === undefined) {
      this.#refuseConnection(raw, 'too-many-connections-of-address');
      return undefined;
    }
    raw.once('close', closed);
    const connection: Connection = {
      raw,
      openedAtMs: performance.now(),
      session: undefined,
      closeReason: undefined,
    };
    this.#connections.add(connection);
    this.#sweeps.wake();
    this.#observer.connectionOpened();
    raw.once('close', () => this.#takeClosed(connection));
    return connection;
  }

  #refuseConnection(raw: Socket, reason: 'too-many-connections' | 'too-many-connections-of-address'): void {
    this.#observer.refused(reason);
    this.#overload.warn('connection-refused', { reason, remoteAddress: addressOf(raw) });
    raw.destroy();
  }

  #acceptPlain(raw: Socket): void {
    const connection = this.#open(raw);
    if (connection !== undefined) this.#attach(connection, raw, 'rtmp');
  }

  /** TLS begins with the peer's first byte: its state costs far more than a socket. */
  #acceptSecure(raw: Socket): void {
    const connection = this.#open(raw);
    if (connection === undefined) return;
    const peer = peerOf(raw);
    raw.on('error', () => {
      connection.closeReason ??= 'connection-error';
    });
    raw.once('readable', () => {
      if (raw.readableLength === 0) {
        raw.destroy();
        return;
      }
      this.#securing.set(peer, connection);
      raw.once('close', () => this.#securing.delete(peer));
      this.#tls?.emit('connection', raw);
    });
  }

  #takeSecured(socket: TLSSocket): void {
    const peer = peerOf(socket);
    const connection = this.#securing.get(peer);
    this.#securing.delete(peer);
    if (connection === undefined) socket.destroy();
    else this.#attach(connection, socket, 'rtmps');
  }

  #takeTlsFailure(error: Error, socket: TLSSocket): void {
    const connection = this.#securing.get(peerOf(socket));
    // A connection that the sweep has closed ends up here as well.
    if (connection !== undefined && connection.closeReason === undefined) {
      connection.closeReason = 'tls-failed';
      this.#log.info('tls-failed', { remoteAddress: addressOf(socket), error: messageOf(error) });
    }
    socket.destroy();
  }

  #attach(connection: Connection, socket: Socket, protocol: 'rtmp' | 'rtmps'): void {
    socket.on('data', data => {
      this.#observer.bytesIn(data.length);
      connection.session ??= this.#openSession(connection, socket, protocol);
      connection.session.receive(data);
    });
    socket.on('end', () => connection.session?.peerEnded());
    socket.on('error', () => {
      connection.closeReason ??= 'connection-error';
    });
    socket.on('close', hasFailed => {
      connection.session?.socketClosed(hasFailed ? 'connection-error' : 'connection-closed');
    });
  }

  #openSession(connection: Connection, socket: Socket, protocol: 'rtmp' | 'rtmps'): RtmpSession {
    const { handshakeTimeoutMs, idleTimeoutMs, maxMessageBytes, maxMessageRate, gate, log } = this.#options;
    const connectionId = newId('co');
    const remoteAddress = addressOf(socket);
    return new RtmpSession({
      socket,
      connectionId,
      protocol,
      remoteAddress,
      handshakeTimeoutMs,
      idleTimeoutMs,
      maxMessageBytes,
      maxMessageRate,
      gate,
      log: log.child('ingest', { connectionId, protocol, remoteAddress }),
      observer: this.#observer,
      openedAtMs: connection.openedAtMs,
      isDraining: () => this.#isDraining,
    });
  }

  #takeClosed(connection: Connection): void {
    if (!this.#connections.delete(connection)) return;
    const reason = connection.session?.closeReason ?? connection.closeReason ?? 'connection-closed';
    this.#observer.connectionClosed(reason);
  }

  #sweep(): boolean {
    const nowMs = performance.now();
    for (const connection of this.#connections) {
      if (connection.session !== undefined) {
        connection.session.checkTimeouts(nowMs);
      } else if (nowMs - connection.openedAtMs >= this.#options.handshakeTimeoutMs) {
        connection.closeReason ??= 'handshake-timeout';
        connection.raw.destroy();
      }
    }
    return this.#connections.size > 0;
  }
}

function listenError(what: string, host: string, port: number, cause: unknown): AppError {
  const code = systemCodeOf(cause);
  const why =
    code === 'EADDRINUSE'
      ? 'is already in use. Stop the program that uses it, or set another port.'
      : code === 'EACCES'
        ? 'needs more rights than this process has. Set a port above 1023.'
        : `cannot be listened on at ${host}: ${messageOf(cause)}`;
  return new AppError('listen-failed', `${what} port ${port} ${why}`, { cause });
}

/** IP address of the peer; IPv4 in its own form also on a dual-stack socket. */
function addressOf(socket: Socket): string {
  return (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
