import { createServer, type Server, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  type TLSSocket,
  type Server as TlsServer,
} from 'node:tls';
import { AppError, messageOf } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { ConnectionLimiter, type ConnectionLimiterOptions } from '../../shared/network/connection-limiter.ts';
import { listenError } from '../../shared/network/listen-error.ts';
import { ProxyProtocol, tlsFailureAdvice } from '../../shared/network/proxy-protocol.ts';
import { withReadBuffer } from '../../shared/network/read-buffer.ts';
import { unmappedAddress } from '../../shared/network/unmapped-address.ts';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import { ThrottledLog } from '../../shared/throttled-log.ts';
import { type IngestObserver, noopIngestObserver } from '../ingest-observer.ts';
import { redirectLibraryLog } from './library-log.ts';
import { RtmpSession, type SessionSettings } from './rtmp-session.ts';

interface RtmpsOptions {
  /** 0 picks a free one. */
  readonly port: number;
  /** PEM; read at the start and at each change. Undefined until there is a certificate: handshakes fail until then. */
  secureContext(): SecureContextOptions | undefined;
  /** Existing connections keep their certificate. */
  onChange?(listener: () => void): void;
}

export interface RtmpServerOptions extends SessionSettings {
  readonly host: string;
  /** 0 picks a free one. */
  readonly rtmpPort: number;
  readonly rtmps?: RtmpsOptions;
  /** Maximum connections of both listeners; further ones are closed at once. */
  readonly maxConnections: number;
  /** Unlimited by default. */
  readonly perAddress?: ConnectionLimiterOptions;
  /** Peers that begin each connection with a PROXY protocol header. Default: none. */
  readonly isProxy?: ((address: string) => boolean) | undefined;
  readonly observer?: IngestObserver;
}

/** The session is created with the peer's first bytes, so that silent connections cost little. */
interface Connection {
  readonly raw: Socket;
  readonly openedAtMs: number;
  session: RtmpSession | undefined;
  closeReason: string | undefined;
}

const backlog = 1_024;
/** Lets encoders read the reason for the stop. */
const stopGraceMs = 250;

export class RtmpServer implements Component {
  readonly name = 'ingest';
  readonly #options: RtmpServerOptions;
  readonly #log: Logger;
  readonly #observer: IngestObserver;
  readonly #overload: ThrottledLog;
  readonly #counts: ConnectionLimiter;
  readonly #proxyProtocol: ProxyProtocol;
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
    this.#proxyProtocol = new ProxyProtocol({
      isProxy: options.isProxy ?? (() => false),
      timeoutMs: options.handshakeTimeoutMs,
      log: this.#log,
    });
    this.#rtmpPort = options.rtmpPort;
    this.#rtmpsPort = options.rtmps?.port;
    const shortestMs = Math.min(options.handshakeTimeoutMs, options.idleTimeoutMs);
    const sweepEveryMs = Math.min(1_000, Math.max(20, shortestMs / 10));
    this.#sweeps = new OnDemandInterval(sweepEveryMs, () => this.#sweep());
  }

  get isListening(): boolean {
    return this.#listeners.some(server => server.listening);
  }

  /** The actual port once started. */
  get rtmpPort(): number {
    return this.#rtmpPort;
  }

  /** The actual port once started. */
  get rtmpsPort(): number | undefined {
    return this.#rtmpsPort;
  }

  /** @throws AppError `listen-failed` or `tls-unusable` */
  async start(): Promise<void> {
    const { rtmps, rtmpPort } = this.#options;
    redirectLibraryLog(this.#log);
    try {
      if (rtmps !== undefined) this.#tls = this.#createTls(rtmps);
      this.#rtmpPort = await this.#listen('RTMP', rtmpPort, true, (accepted, rest) =>
        this.#acceptPlain(accepted, rest),
      );
      if (rtmps !== undefined) {
        this.#rtmpsPort = await this.#listen('RTMPS', rtmps.port, false, (raw, rest) =>
          this.#acceptSecure(raw, rest),
        );
      }
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#log.info('listening', { rtmpPort: this.#rtmpPort, rtmpsPort: this.#rtmpsPort });
  }

  /** Existing publishers continue until {@link stop}. */
  async drain(): Promise<void> {
    this.#isDraining = true;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#sweeps.stop();
    const closed = this.#listeners.map(listener => new Promise(resolve => listener.close(resolve)));
    this.#proxyProtocol.stop();
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

  async #listen(
    what: string,
    port: number,
    pauseOnConnect: boolean,
    accept: (socket: Socket, rest: Buffer) => void,
  ): Promise<number> {
    const { host } = this.#options;
    const server = createServer({ noDelay: true, pauseOnConnect }, socket => {
      if (this.#connections.size + this.#proxyProtocol.waiting >= this.#options.maxConnections)
        this.#refuseConnection(socket, 'too-many-connections');
      else this.#proxyProtocol.receive(socket, rest => accept(socket, rest));
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen({ port, host, backlog }, resolve);
    try {
      await promise;
    } catch (error) {
      throw listenError(`${what} port ${port}`, host, error);
    }
    server.off('error', reject);
    // Reports a failed accept, too, for example without free file descriptors.
    server.on('error', error => this.#overload.warn('accept-failed', { error: messageOf(error) }));
    this.#listeners.push(server);
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : port;
  }

  #createTls(rtmps: RtmpsOptions): TlsServer {
    // The sweep closes slow handshakes; Node's own timer at the same time would make the reason random.
    const handshakeTimeout = this.#options.handshakeTimeoutMs * 2;
    let tls: TlsServer;
    try {
      tls = createTlsServer({ ...rtmps.secureContext(), handshakeTimeout });
    } catch (error) {
      throw new AppError('tls-unusable', `The RTMPS certificate cannot be used: ${messageOf(error)}`, {
        cause: error,
      });
    }
    tls.on('secureConnection', socket => this.#handleSecured(socket));
    tls.on('tlsClientError', (error, socket) => this.#handleTlsFailure(error, socket));
    rtmps.onChange?.(() => this.#reloadCertificate(tls, rtmps));
    return tls;
  }

  #reloadCertificate(tls: TlsServer, rtmps: RtmpsOptions): void {
    if (this.#isStopped) return;
    try {
      tls.setSecureContext(rtmps.secureContext() ?? {});
      this.#log.info('certificate-reloaded');
    } catch (error) {
      this.#log.error('certificate-reload-failed', { error });
    }
  }

  #open(raw: Socket): Connection | undefined {
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
    raw.once('close', () => this.#handleClosed(connection));
    return connection;
  }

  #refuseConnection(raw: Socket, reason: 'too-many-connections' | 'too-many-connections-of-address'): void {
    this.#observer.refused(reason);
    this.#overload.warn('connection-refused', { reason, remoteAddress: addressOf(raw) });
    raw.destroy();
  }

  #acceptPlain(accepted: Socket, rest: Buffer): void {
    let connection: Connection | undefined;
    const socket = withReadBuffer(accepted, data => {
      if (connection !== undefined) this.#receive(connection, socket, 'rtmp', data);
    });
    connection = this.#open(socket);
    if (connection === undefined) return;
    this.#attach(connection, socket);
    if (rest.length > 0) this.#receive(connection, socket, 'rtmp', rest);
    socket.resume();
  }

  /** Starts TLS with the peer's first byte, since its state costs far more than a socket. */
  #acceptSecure(raw: Socket, rest: Buffer): void {
    const connection = this.#open(raw);
    if (connection === undefined) return;
    const peer = peerOf(raw);
    raw.on('error', () => {
      connection.closeReason ??= 'connection-error';
    });
    if (rest.length > 0) raw.unshift(rest);
    raw.once('readable', () => {
      // Two proxies can forward the same port of a client at once.
      if (raw.readableLength === 0 || this.#securing.has(peer)) {
        raw.destroy();
        return;
      }
      this.#securing.set(peer, connection);
      raw.once('close', () => this.#securing.delete(peer));
      this.#tls?.emit('connection', raw);
    });
  }

  #handleSecured(socket: TLSSocket): void {
    const peer = peerOf(socket);
    const connection = this.#securing.get(peer);
    this.#securing.delete(peer);
    if (connection === undefined) socket.destroy();
    else {
      this.#attach(connection, socket);
      socket.on('data', data => this.#receive(connection, socket, 'rtmps', data));
    }
  }

  #handleTlsFailure(error: Error, socket: TLSSocket): void {
    const connection = this.#securing.get(peerOf(socket));
    // Connections that the sweep has closed end up here as well.
    if (connection !== undefined && connection.closeReason === undefined) {
      connection.closeReason = 'tls-failed';
      this.#log.info('tls-failed', {
        remoteAddress: addressOf(socket),
        error: messageOf(error),
        advice: tlsFailureAdvice(error),
      });
    }
    socket.destroy();
  }

  #receive(connection: Connection, socket: Socket, protocol: 'rtmp' | 'rtmps', data: Buffer): void {
    this.#observer.bytesIn(data.length);
    if (connection.session === undefined) this.#proxyProtocol.noteUnexpected(data, socket);
    connection.session ??= this.#openSession(connection, socket, protocol);
    connection.session.receive(data);
  }

  #attach(connection: Connection, socket: Socket): void {
    socket.on('end', () => connection.session?.peerEnded());
    socket.on('error', () => {
      connection.closeReason ??= 'connection-error';
    });
    socket.on('close', hasFailed => {
      connection.session?.socketClosed(hasFailed ? 'connection-error' : 'connection-closed');
    });
  }

  #openSession(connection: Connection, socket: Socket, protocol: 'rtmp' | 'rtmps'): RtmpSession {
    const connectionId = newId('co');
    const remoteAddress = addressOf(socket);
    return new RtmpSession({
      ...this.#options,
      socket,
      connectionId,
      protocol,
      remoteAddress,
      log: this.#options.log.child('ingest', { connectionId, protocol, remoteAddress }),
      observer: this.#observer,
      openedAtMs: connection.openedAtMs,
      isDraining: () => this.#isDraining,
    });
  }

  #handleClosed(connection: Connection): void {
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

function addressOf(socket: Socket): string {
  return unmappedAddress(socket.remoteAddress ?? '');
}

function peerOf(socket: Socket): string {
  return `${socket.remoteAddress} ${socket.remotePort}`;
}
