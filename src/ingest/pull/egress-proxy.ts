import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as requestHttp,
  type ServerResponse,
} from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Server as NetServer } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { pinnedLookup } from '../../shared/network/target-address.ts';
import { LoopbackServer } from './loopback-server.ts';
import { PlaylistFilter, plainAddress, realAddress } from './playlist-filter.ts';
import { PullError, type TargetRules } from './pull-input.ts';
import { checkTarget, describeConnectError } from './pull-target.ts';

/** Maximum connections of ffmpeg: playlists, segments and keys. */
const maxConnections = 32;
const idleTimeoutMs = 30_000;
const userName = 'ffmpeg';
/** The first address that ffmpeg gets: without the path and query of the source, which others could see. */
const firstAddress = 'http://source.invalid/index.m3u8';
const passedRequestHeaders = ['accept', 'range', 'user-agent', 'cookie'];
const passedResponseHeaders = ['content-type', 'content-range', 'accept-ranges', 'set-cookie'];

/**
 * The only way of an ffmpeg child to the network: connects to checked addresses only, for every request anew. ffmpeg gets
 * everything over HTTP, so that no playlist passes unseen, and so that the certificates of HTTPS are verified here.
 */
export class EgressProxy {
  readonly firstAddress = firstAddress;
  readonly #source: URL;
  readonly #rules: TargetRules;
  readonly #server: LoopbackServer;
  /** Problem of the last request that failed. */
  problem: string | undefined;
  /** Target duration of the last media playlist; 0 before. */
  targetDurationSeconds = 0;
  remoteAddress = '';

  constructor(source: URL, rules: TargetRules) {
    this.#source = source;
    this.#rules = rules;
    const server = createServer((incoming, answer) => void this.#forward(incoming, answer));
    server.timeout = idleTimeoutMs;
    this.#server = new LoopbackServer(server, maxConnections);
  }

  /** Listens for a child without a sandbox. @returns the address */
  async start(): Promise<string> {
    await this.#server.start();
    return this.address;
  }

  /** Accepts the connections of a child in its sandbox. */
  adopt(listener: NetServer): void {
    this.#server.adopt(listener);
  }

  /** The value of `http_proxy`, which other users of the machine cannot read. */
  get address(): string {
    return `http://${userName}:${this.#server.secret}@${this.#server.host}`;
  }

  close(): void {
    this.#server.close();
  }

  async #forward(incoming: IncomingMessage, answer: ServerResponse): Promise<void> {
    answer.on('error', () => {});
    if (!this.#isAuthorized(incoming)) {
      // ffmpeg sends the secret once it was asked for it.
      answer.writeHead(407, { 'proxy-authenticate': 'Basic realm="ffmpeg"' }).end();
      return;
    }
    try {
      const url = realAddress(incoming.url ?? '');
      if (url?.href === firstAddress) {
        answer.writeHead(302, { location: plainAddress(this.#source) }).end();
        return;
      }
      if (url === undefined || !['GET', 'HEAD'].includes(incoming.method ?? '')) {
        throw new PullError('The source refers to something that is not HTTP.');
      }
      await this.#pass(await this.#request(url, incoming, answer), url, answer);
    } catch (error) {
      this.#fail(answer, error instanceof PullError ? error.message : 'The source could not be reached.');
    }
  }

  /** RFC 9110, 11.7.2 */
  #isAuthorized({ headers }: IncomingMessage): boolean {
    const [, encoded = ''] = /^Basic ([\w+/=]+)$/i.exec(headers['proxy-authorization'] ?? '') ?? [];
    const [, secret = ''] = Buffer.from(encoded, 'base64').toString('latin1').split(':');
    return this.#server.isSecret(secret);
  }

  async #request(url: URL, incoming: IncomingMessage, answer: ServerResponse): Promise<IncomingMessage> {
    const addresses = await checkTarget(url.hostname, this.#rules);
    this.remoteAddress ||= addresses[0]?.address ?? '';
    const { username, password, origin } = this.#source;
    // A password is for the host that it was given for.
    if (url.origin === origin) Object.assign(url, { username, password });
    const headers = { ...chosen(incoming.headers, passedRequestHeaders), 'accept-encoding': 'identity' };
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      agent: false,
      method: incoming.method,
      headers,
      lookup: pinnedLookup(addresses),
      timeout: idleTimeoutMs,
      signal: this.#server.closing,
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer')));
    outgoing.on('error', error => reject(new PullError(describeConnectError(error, url.host))));
    // An answer that changes the protocol ends the request without an error.
    outgoing.on('close', () => reject(new PullError(describeConnectError(undefined, url.host))));
    outgoing.on('response', resolve);
    answer.once('close', () => outgoing.destroy());
    outgoing.end();
    return await promise;
  }

  async #pass(response: IncomingMessage, url: URL, answer: ServerResponse): Promise<void> {
    const { statusCode: status = 0, headers } = response;
    if (status >= 300 && status < 400) {
      response.destroy();
      const next = URL.parse(headers.location ?? '', url.href);
      if (next === null || !['http:', 'https:'].includes(next.protocol)) {
        throw new PullError('The source redirects to an address that is not HTTP.');
      }
      answer.writeHead(302, { location: plainAddress(next) }).end();
      return;
    }
    if (status >= 400) {
      this.problem = `The source responded with HTTP status ${status}. Check the address.`;
    }
    answer.writeHead(status, chosen(headers, passedResponseHeaders));
    const filter = new PlaylistFilter();
    await pipeline(response, filter, answer);
    this.targetDurationSeconds = filter.targetDurationSeconds ?? this.targetDurationSeconds;
  }

  #fail(answer: ServerResponse, problem: string): void {
    this.problem = problem;
    if (answer.headersSent) answer.destroy();
    else answer.writeHead(502).end();
  }
}

function chosen(headers: IncomingHttpHeaders, names: readonly string[]): OutgoingHttpHeaders {
  return Object.fromEntries(
    names.flatMap(name => (headers[name] === undefined ? [] : [[name, headers[name]]])),
  );
}
