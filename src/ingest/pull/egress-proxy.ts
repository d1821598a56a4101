import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pinnedLookup } from '../../shared/network/target-address.ts';
import { PullError, type TargetRules } from './pull-input.ts';
import { checkTarget, connectSource } from './pull-target.ts';

/** Of ffmpeg: playlists, segments and keys. */
const maxConnections = 32;
const idleTimeoutMs = 30_000;
/** The first address that ffmpeg gets: without the path, query and password of the source, which others could see. */
const firstAddress = 'http://source.invalid/index.m3u8';
const hopHeaders = ['connection', 'proxy-connection', 'proxy-authorization', 'keep-alive', 'te', 'upgrade'];

/** The only way of an ffmpeg child to the network: connects to checked addresses only, for every request anew. */
export class EgressProxy {
  readonly firstAddress = firstAddress;
  readonly #source: URL;
  readonly #rules: TargetRules;
  readonly #server: Server;
  readonly #sockets = new Set<Duplex>();
  readonly #closing = new AbortController();
  /** Of the last request that failed. */
  problem: string | undefined;
  remoteAddress = '';

  constructor(source: URL, rules: TargetRules) {
    this.#source = source;
    this.#rules = rules;
    this.#server = createServer((incoming, answer) => void this.#forward(incoming, answer));
    this.#server.maxConnections = maxConnections;
    this.#server.timeout = idleTimeoutMs;
    this.#server.on('connect', (incoming, socket) => void this.#tunnel(incoming, socket));
    this.#server.on('connection', socket => this.#own(socket));
  }

  /** @returns the value of `http_proxy` */
  async start(): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject);
    this.#server.listen(0, '127.0.0.1', resolve);
    await promise;
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#closing.abort();
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #own(socket: Duplex): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
  }

  async #forward(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    answer.on('error', () => {});
    try {
      const url = URL.parse(incoming.url ?? '');
      if (url?.href === firstAddress) {
        answer.writeHead(302, { location: this.#source.href }).end();
        return;
      }
      if (url?.protocol !== 'http:' || !['GET', 'HEAD'].includes(incoming.method ?? '')) {
        throw new PullError('The source asks for something that is not HTTP.');
      }
      const addresses = await checkTarget(url.hostname, this.#rules);
      this.remoteAddress ||= addresses[0]?.address ?? '';
      const headers = Object.fromEntries(
        Object.entries(incoming.headers).filter(([name]) => !hopHeaders.includes(name)),
      );
      const outgoing = request(url, {
        ...{ agent: false, method: incoming.method, headers, lookup: pinnedLookup(addresses) },
        ...{ timeout: idleTimeoutMs, signal: this.#closing.signal },
      });
      outgoing.on('timeout', () => outgoing.destroy());
      outgoing.on('error', () => this.#fail(answer, `${url.host} could not be reached.`));
      outgoing.on('response', response => {
        const status = response.statusCode ?? 502;
        if (status >= 400)
          this.problem = `The source answered with the HTTP status ${status}. Check the address.`;
        answer.writeHead(status, response.headers);
        response.on('error', () => answer.destroy());
        response.pipe(answer);
      });
      answer.once('close', () => outgoing.destroy());
      outgoing.end();
    } catch (error) {
      this.#fail(answer, error instanceof PullError ? error.message : 'The source could not be reached.');
    }
  }

  #fail(answer: ServerResponse, problem: string): void {
    this.problem = problem;
    if (answer.headersSent) answer.destroy();
    else answer.writeHead(502).end();
  }

  async #tunnel(incoming: IncomingMessage, client: Duplex): Promise<void> {
    try {
      const target = URL.parse(`http://${incoming.url ?? ''}/`);
      if (target === null) throw new PullError('The source asks for something that is not HTTP.');
      // The default port of HTTP is not in the URL.
      if (target.port === '') target.port = '80';
      const upstream: Socket = await connectSource(target, this.#rules, this.#closing.signal);
      this.remoteAddress ||= upstream.remoteAddress ?? '';
      this.#own(upstream);
      upstream.setTimeout(idleTimeoutMs, () => upstream.destroy());
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      client.pipe(upstream).pipe(client);
      client.once('close', () => upstream.destroy());
      upstream.once('close', () => client.destroy());
    } catch (error) {
      this.problem = error instanceof PullError ? error.message : 'The source could not be reached.';
      client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
    }
  }
}
