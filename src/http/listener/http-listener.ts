import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type {
  Http2SecureServer,
  Http2ServerRequest,
  Http2ServerResponse,
  ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { withoutBasePath } from '../../shared/network/base-path.ts';
import { ConnectionLimiter, type ConnectionLimiterOptions } from '../../shared/network/connection-limiter.ts';
import { listenError } from '../../shared/network/listen-error.ts';
import { ProxyProtocol, tlsFailureAdvice } from '../../shared/network/proxy-protocol.ts';
import { ThrottledLog } from '../../shared/throttled-log.ts';
import { FastPath } from '../fast-path/fast-path.ts';
import type { FastRequest, FastResponse } from '../fast-path/fast-response.ts';
import type { CertificateSource } from './certificate-source.ts';
import { type AddressOf, addressReader, type IsSecure, type PeerRequest } from './client-address.ts';
import { checkHostHeader, toOriginForm } from './host-header.ts';
import type { HttpsRedirect } from './https-redirect.ts';
import {
  type EarlyError,
  earlyErrorOf,
  rejectConnection,
  rejectRequest,
  rejectUpgrade,
} from './listener-errors.ts';
import { RequestTurns } from './request-turns.ts';
import { findUpgradeHandler, type UpgradeHandler } from './upgrade-handler.ts';

export type HttpRequest = IncomingMessage | Http2ServerRequest;
export type HttpResponse = ServerResponse | Http2ServerResponse;

export interface HttpListenerOptions {
  readonly host: string;
  /** Removed from the paths of requests that have it, before anything else reads them. */
  readonly basePath?: string;
  /** 0 picks a free one. */
  readonly port: number;
  readonly https?: { readonly port: number; readonly certificate: CertificateSource };
  readonly redirect?: HttpsRedirect | undefined;
  /** Tried first for simple GET requests without TLS; `false` leaves them to the others. */
  readonly fast?: (request: FastRequest, response: FastResponse) => boolean;
  /** Tried in order before Koa; one that returns `true` responds. */
  readonly beforeKoa: readonly ((request: HttpRequest, response: HttpResponse) => boolean)[];
  readonly upgrades?: readonly UpgradeHandler[];
  readonly koa: { callback(): (request: HttpRequest, response: HttpResponse) => unknown };
  /** Tells requests that come in great numbers, and wait while the server is busy with others. */
  readonly canWait?: (request: HttpRequest) => boolean;
  /** Address of the client, also behind a proxy. Default: the peer. */
  readonly addressOf?: AddressOf;
  readonly docsBase: () => string;
  /** Methods for `Allow`; undefined for an unknown path. Without it, unknown methods get 400. */
  readonly allowedMethods?: (path: string) => string | undefined;
  readonly hsts?: { readonly maxAgeSeconds: number; readonly isSecure: IsSecure };
  readonly log: Logger;
  readonly maxConnections?: number;
  readonly perAddress?: ConnectionLimiterOptions;
  readonly connectionRefused?: () => void;
  /** Peers that begin each connection with a PROXY protocol header. Default: none. */
  readonly isProxy?: ((address: string) => boolean) | undefined;
  /** Timeout from the first byte to the end of the headers, and from a response to the end of an unread body. */
  readonly headersTimeoutMs?: number;
  readonly keepAliveTimeoutMs?: number;
}

const peerAddress = addressReader([]);
const maxHeaderBytes = 16 * 1_024;
const http2SessionIdleMs = 120_000;
const maxHttp2Streams = 128;
/** Open HTTP/2 requests of one client network for each connection that it may have. */
const http2RequestsPerConnection = 4;
/** **Source**: RFC 9113, 7 */
const refusedStream = 0x07;
const cancel = 0x08;
const drainPollMs = 20;
/** **Source**: RFC 8737, 6.2 */
const challengeProtocol = 'acme-tls/1';

export class HttpListener implements Component {
  readonly name = 'http';
  readonly #options: HttpListenerOptions;
  readonly #log: Logger;
  readonly #refusalLog: ThrottledLog;
  readonly #connectionLimiter: ConnectionLimiter;
  readonly #http2Limiter: ConnectionLimiter;
  readonly #turns: RequestTurns;
  readonly #proxyProtocol: ProxyProtocol;
  readonly #sockets = new Set<Socket>();
  readonly #openResponses = new Set<HttpResponse>();
  readonly #unreadable = new WeakSet<Socket>();
  readonly #koa: (request: HttpRequest, response: HttpResponse) => unknown;
  #fastPath: FastPath | undefined;
  #servers: (Server | Http2SecureServer)[] = [];
  #httpPort = 0;
  #httpsPort: number | undefined;
  #isDraining = false;
  #unsubscribeCertificate: (() => void) | undefined;

  constructor(options: HttpListenerOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#refusalLog = new ThrottledLog(options.log);
    const perAddress = options.perAddress ?? { maxPerAddress: 0, isExempt: () => true };
    this.#connectionLimiter = new ConnectionLimiter(perAddress);
    this.#http2Limiter = new ConnectionLimiter({
      ...perAddress,
      maxPerAddress: http2RequestsPerConnection * perAddress.maxPerAddress,
    });
    this.#turns = new RequestTurns(perAddress);
    this.#proxyProtocol = new ProxyProtocol({
      isProxy: options.isProxy ?? (() => false),
      timeoutMs: this.#serverOptions().headersTimeout,
      log: options.log,
    });
    this.#koa = options.koa.callback();
  }

  get httpPort(): number {
    return this.#httpPort;
  }

  get httpsPort(): number | undefined {
    return this.#httpsPort;
  }

  get openRequests(): number {
    return this.#openResponses.size + (this.#fastPath?.openResponses ?? 0);
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  /** @throws AppError `listen-failed` */
  async start(): Promise<void> {
    const { port, https } = this.#options;
    const server = createServer(this.#serverOptions());
    this.#fastPath = this.#startFastPath(server);
    this.#httpPort = await this.#listen(this.#configure(server), 'HTTP', port);
    if (https !== undefined) await this.#startSecure(https);
    this.#log.info('listening', { httpPort: this.#httpPort, httpsPort: this.#httpsPort });
  }

  get #basePath(): string {
    return this.#options.basePath ?? '';
  }

  #startFastPath(server: Server): FastPath | undefined {
    const { fast: serve } = this.#options;
    if (serve === undefined) return undefined;
    const { headersTimeout: headersTimeoutMs, keepAliveTimeout: keepAliveTimeoutMs } = this.#serverOptions();
    return new FastPath(server, {
      serve,
      headersTimeoutMs,
      keepAliveTimeoutMs,
      basePath: this.#basePath,
      fieldsFor: request => {
        const hsts = this.#hstsFor(request);
        return hsts === undefined ? '' : `Strict-Transport-Security: ${hsts}\r\n`;
      },
      failed: error => this.#log.error('request-failed', { error }),
    });
  }

  async #startSecure(https: NonNullable<HttpListenerOptions['https']>): Promise<void> {
    const { certificate } = https;
    const { challenges } = certificate;
    // Loaded late: most servers are behind a proxy.
    const { createSecureServer } = await import('node:http2');
    const secure = createSecureServer({
      ...(certificate.secureContext() ?? challenges?.placeholder),
      ...(challenges === undefined ? {} : { ALPNCallback: chooseProtocol(certificate, challenges) }),
      ...this.#serverOptions(),
      allowHTTP1: true,
      handshakeTimeout: this.#serverOptions().headersTimeout,
      settings: { maxConcurrentStreams: maxHttp2Streams },
    });
    this.#unsubscribeCertificate = certificate.onChange(() =>
      secure.setSecureContext(certificate.secureContext() ?? {}),
    );
    if (challenges !== undefined) endConnectionsWithoutContent(secure, certificate);
    secure.on('session', session => {
      session.setTimeout(http2SessionIdleMs, () => session.close());
      session.on('stream', stream => this.#limitUnreadResponse(stream));
      // Closing the server does not close a session that was being set up.
      if (this.#isDraining) session.close();
    });
    this.#httpsPort = await this.#listen(this.#configure(secure), 'HTTPS', https.port);
  }

  async drain(deadlineMs: number): Promise<void> {
    this.#isDraining = true;
    this.#fastPath?.drain();
    this.#proxyProtocol.stop();
    for (const answer of this.#openResponses) closeAfterResponse(answer);
    for (const server of this.#servers) server.close();
    while (this.openRequests > 0 && Date.now() < deadlineMs) {
      await new Promise(resolve => setTimeout(resolve, drainPollMs));
    }
  }

  async stop(): Promise<void> {
    this.#unsubscribeCertificate?.();
    const closed = this.#servers.map(server => new Promise<void>(resolve => server.close(() => resolve())));
    this.#proxyProtocol.stop();
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
    this.#servers = [];
  }

  #serverOptions() {
    const headersTimeout = this.#options.headersTimeoutMs ?? 10_000;
    return {
      headersTimeout,
      // Uploads may take hours; readers of bodies limit slow senders.
      requestTimeout: 0,
      connectionsCheckingInterval: headersTimeout / 2,
      keepAliveTimeout: this.#options.keepAliveTimeoutMs ?? 65_000,
      maxHeaderSize: maxHeaderBytes,
      noDelay: true,
      // Checked here, because Node responds without a body.
      requireHostHeader: false,
    };
  }

  #configure<Any extends Server | Http2SecureServer>(server: Any): Any {
    server.maxConnections = this.#options.maxConnections ?? 20_000;
    const events: NodeJS.EventEmitter = server;
    events.on('connection', (socket: Socket) => {
      const closed = this.#connectionLimiter.open(socket.remoteAddress ?? '');
      if (closed === undefined) {
        this.#options.connectionRefused?.();
        const { remoteAddress } = socket;
        this.#refusalLog.warn('connection-refused', {
          reason: 'too-many-connections-of-address',
          remoteAddress,
        });
        socket.destroy();
        return;
      }
      socket.once('close', closed);
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    events.on('request', (request: HttpRequest, response: HttpResponse) => this.#serve(request, response));
    // Node responds to this without a body, and drops tunnel requests silently.
    events.on('checkExpectation', (_request: HttpRequest, response: HttpResponse) =>
      this.#refuse('expectation', response),
    );
    events.on('connect', (_request: HttpRequest, other: HttpResponse | Socket) => {
      if (!('remoteAddress' in other)) return this.#refuse('tunnel', other);
      other.on('error', error => this.#log.debug('tunnel-failed', { error: messageOf(error) }));
      void this.#completeRequestsServed(other).then(() =>
        rejectUpgrade(new AppError('method-not-allowed'), other, this.#options.docsBase()),
      );
    });
    const handlers = this.#options.upgrades ?? [];
    // Declines upgrades without a handler, as the standard allows, and those behind open requests, whose
    // responses must come first. Node before 24.9 does not call this.
    Object.assign(server, {
      shouldUpgradeCallback: (request: IncomingMessage) =>
        findUpgradeHandler(handlers, request, this.#basePath) !== undefined &&
        this.#redirectTarget(request) === undefined &&
        this.#firstOpenResponse(request.socket) === undefined,
    });
    events.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      // Nothing else listens for errors from here on; the end comes as `close`.
      socket.on('error', error => this.#log.debug('upgraded-connection-failed', { error: messageOf(error) }));
      void this.#upgrade(findUpgradeHandler(handlers, request, this.#basePath), request, socket, head);
    });
    events.on('clientError', (error: Error, socket: Socket) => void this.#rejectUnreadable(error, socket));
    if (this.#options.isProxy !== undefined) this.#expectProxyHeaders(server);
    for (const event of ['tlsClientError', 'sessionError']) {
      events.on(event, (error: Error, { remoteAddress }: { readonly remoteAddress?: string }) => {
        const advice = tlsFailureAdvice(error);
        this.#log[advice === undefined ? 'debug' : 'info']('connection-failed', {
          event,
          remoteAddress,
          error: messageOf(error),
          advice,
        });
      });
    }
    return server;
  }

  /** Holds connections back from all that listens for them so far. */
  #expectProxyHeaders(server: Server | Http2SecureServer): void {
    const listeners: readonly CallableFunction[] = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) =>
      this.#proxyProtocol.receive(socket, rest => {
        if (rest.length > 0) socket.unshift(rest);
        for (const listener of listeners) Reflect.apply(listener, server, [socket]);
        // TLS reads the socket itself.
        if (!('setSecureContext' in server)) socket.resume();
      }),
    );
  }

  /** Responds to bytes that are not a request, after the responses to the requests before them (RFC 9112 9.3.2). */
  async #rejectUnreadable(error: Error & { rawPacket?: Buffer }, socket: Socket): Promise<void> {
    this.#log.debug('request-unreadable', { error: messageOf(error) });
    // The parser fails again for everything that arrives later.
    if (this.#unreadable.has(socket)) return;
    this.#unreadable.add(socket);
    this.#proxyProtocol.noteUnexpected(error.rawPacket, socket);
    const incomplete = await this.#completeRequestsServed(socket);
    // The last response closes the connection by itself.
    if (socket.writableEnded) return;
    rejectConnection(error, socket, {
      docsBase: this.#options.docsBase(),
      isAnswering: incomplete?.headersSent ?? false,
      allowedMethods: path => this.#options.allowedMethods?.(withoutBasePath(path, this.#basePath)),
    });
  }

  /** @returns the response to a request whose body has not ended, if there is one */
  async #completeRequestsServed(socket: Socket): Promise<HttpResponse | undefined> {
    for (;;) {
      const response = this.#firstOpenResponse(socket);
      if (response === undefined || !response.req.complete) return response;
      await new Promise<void>(resolve => response.once('close', resolve));
    }
  }

  #serve(request: HttpRequest, response: HttpResponse): void {
    if (!this.#admitHttp2(request, response)) return;
    if ('shouldKeepAlive' in response && response.socket === null) closeWithConnection(response);
    this.#openResponses.add(response);
    response.once('close', () => {
      this.#openResponses.delete(response);
      if ('shouldKeepAlive' in response && !request.complete) this.#limitUnreadBody(request);
    });
    if (this.#isDraining) closeAfterResponse(response);
    const hsts = this.#hstsFor(request);
    if (hsts !== undefined) response.setHeader('Strict-Transport-Security', hsts);
    const refusal = checkHostHeader(request);
    if (refusal !== undefined) {
      this.#refuse(refusal, response);
      return;
    }
    const url = toOriginForm(request.url ?? '/');
    request.url = url;
    // Another target, such as `*`, would continue the host name.
    const target = url.startsWith('/') ? this.#redirectTarget(request) : undefined;
    if (target !== undefined) {
      // Keeps the method and the body.
      response.statusCode = 308;
      response.setHeader('Location', target + url);
      response.setHeader('Content-Length', 0);
      response.end();
      return;
    }
    request.url = withoutBasePath(url, this.#basePath);
    this.#attempt(request, () => {
      for (const take of this.#options.beforeKoa) if (take(request, response)) return;
      const { canWait, addressOf = peerAddress } = this.#options;
      if (canWait?.(request) !== true) this.#koa(request, response);
      else if (!this.#turns.take(request, addressOf(request), () => this.#serveLate(request, response))) {
        this.#refusalLog.warn('requests-refused', { reason: 'busy' });
        rejectRequest('busy', response, this.#options.docsBase());
      }
    });
  }

  /**
   * Refuses requests beyond those that a client network may have open. Each costs memory until its client reads the response, and one
   * connection has many.
   */
  #admitHttp2({ socket }: HttpRequest, response: HttpResponse): boolean {
    if (!('stream' in response)) return true;
    const closed = this.#http2Limiter.open(socket.remoteAddress ?? '');
    if (closed === undefined) {
      this.#refusalLog.warn('requests-refused', { reason: 'too-many-requests-of-address' });
      response.stream.close(refusedStream);
      return false;
    }
    response.once('close', closed);
    return true;
  }

  /** Ends responses that wait for their client, which need not have closed its connection. */
  #limitUnreadResponse(stream: ServerHttp2Stream): void {
    stream.setTimeout(this.#serverOptions().keepAliveTimeout, () => {
      if (stream.writableLength > 0) stream.close(cancel);
    });
  }

  /** Leaves out requests whose client has left meanwhile. */
  #serveLate(request: HttpRequest, response: HttpResponse): unknown {
    return request.destroyed ? undefined : this.#attempt(request, () => this.#koa(request, response));
  }

  #attempt(request: HttpRequest, serve: () => unknown): unknown {
    try {
      return serve();
    } catch (error) {
      this.#log.error('request-failed', { error });
      request.destroy();
      return undefined;
    }
  }

  #redirectTarget(request: HttpRequest): string | undefined {
    return this.#options.redirect?.targetOf(request, withoutBasePath(request.url ?? '/', this.#basePath));
  }

  #hstsFor(request: PeerRequest): string | undefined {
    const { hsts } = this.#options;
    return hsts?.isSecure(request) ? `max-age=${hsts.maxAgeSeconds}` : undefined;
  }

  /** Bounds the wait for an unread body after the response, which Node would not. */
  #limitUnreadBody(request: HttpRequest): void {
    if (request.destroyed) return;
    const overdue = setTimeout(() => request.socket.destroy(), this.#serverOptions().headersTimeout);
    overdue.unref();
    request.once('close', () => clearTimeout(overdue));
  }

  #firstOpenResponse(socket: Socket): HttpResponse | undefined {
    for (const response of this.#openResponses) if (response.req.socket === socket) return response;
    return undefined;
  }

  #refuse(reason: EarlyError, response: HttpResponse): void {
    closeAfterResponse(response);
    rejectRequest(reason, response, this.#options.docsBase());
  }

  async #upgrade(
    handler: UpgradeHandler | undefined,
    request: IncomingMessage,
    socket: Socket,
    head: Buffer,
  ): Promise<void> {
    try {
      if (this.#isDraining) throw new AppError('server-draining');
      const refusal = checkHostHeader(request);
      if (refusal !== undefined) throw earlyErrorOf(refusal);
      if (handler === undefined) throw new AppError('unrecognized-request-url');
      await handler.handle(request, socket, head);
    } catch (error) {
      if (!(error instanceof AppError)) this.#log.error('upgrade-failed', { error });
      rejectUpgrade(error, socket, this.#options.docsBase());
    }
  }

  async #listen(server: Server | Http2SecureServer, what: string, port: number): Promise<number> {
    const { host } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once('error', reject);
    server.listen({ host, port }, resolve);
    try {
      await promise;
    } catch (error) {
      throw listenError(`${what} port ${port}`, host, error);
    }
    server.off('error', reject);
    server.on('error', error => this.#log.error('listener-failed', { error }));
    this.#servers.push(server);
    return (server.address() as AddressInfo).port;
  }
}

/** Answers challenges with their certificate, and refuses everything else until there is a certificate. **Source**: RFC 8737, 3 */
function chooseProtocol(
  certificate: CertificateSource,
  challenges: NonNullable<CertificateSource['challenges']>,
) {
  return function (
    this: TLSSocket,
    { servername, protocols }: { readonly servername: string | false; readonly protocols: readonly string[] },
  ): string | undefined {
    if (protocols.includes(challengeProtocol)) {
      // Clients can leave the name out.
      const context = servername ? challenges.find(servername) : undefined;
      if (context === undefined) return undefined;
      this.setKeyCert(context);
      return challengeProtocol;
    }
    if (certificate.secureContext() === undefined) return undefined;
    return ['h2', 'http/1.1'].find(protocol => protocols.includes(protocol));
  };
}

/** Ends connections of challenges and, until there is a certificate, of clients without ALPN, which have seen a placeholder. */
function endConnectionsWithoutContent(secure: Http2SecureServer, certificate: CertificateSource): void {
  const listeners = secure.listeners('secureConnection');
  secure.removeAllListeners('secureConnection');
  secure.on('secureConnection', socket => {
    if (socket.alpnProtocol === challengeProtocol || certificate.secureContext() === undefined) {
      socket.on('error', () => {});
      socket.destroySoon();
      return;
    }
    for (const listener of listeners) Reflect.apply(listener, secure, [socket]);
  });
}

/** Node before 24.16 emits no `close` for responses that wait behind another one (pipelining) when their connection closes. */
function closeWithConnection(response: ServerResponse): void {
  const { socket } = response.req;
  const close = () => {
    if (!response.closed) response.emit('close');
  };
  // A listener for each response that waits.
  socket.setMaxListeners(0);
  socket.once('close', close);
  response.once('close', () => socket.off('close', close));
}

/** Does nothing on HTTP/2, where closing the server ends the session. */
function closeAfterResponse(response: HttpResponse): void {
  if (!('shouldKeepAlive' in response) || response.headersSent) return;
  response.shouldKeepAlive = false;
}
