import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { systemCodeOf } from '../../shared/errors.ts';
import {
  classifyHostLiteral,
  pinnedLookup,
  type ResolveHost,
  resolveTarget,
} from '../../shared/network/target-address.ts';
import { connectionClosed, type DeliveryError, deliveryErrorOf } from './delivery-error.ts';
import { createPinnedAgent, type PinnedOptions } from './pinned-agent.ts';

export interface WebhookResponse {
  readonly statusCode: number | undefined;
  readonly error: DeliveryError | undefined;
  /** Start of the body, up to `maxResponseBytes`; undefined without a response. */
  readonly response: string | undefined;
  /** The body was longer, or ended early. */
  readonly isTruncated?: true;
}

/** Accepts 2xx and 101. */
export function isAccepted({ statusCode }: Pick<WebhookResponse, 'statusCode'>): boolean {
  return statusCode !== undefined && statusCode < 300;
}

interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Cancels the request; its result is then meaningless. */
  readonly signal: AbortSignal;
  /** Default: that of the sender. */
  readonly timeoutMs?: number;
  /** Default: {@link maxKeptResponseBytes}. */
  readonly maxResponseBytes?: number;
}

/**
 * `private` and `never` follow from a literal address. A host name is `not-public` when it is unknown or
 * resolves to private addresses; the two look the same, so that nobody can probe names in the server's
 * network. With private addresses allowed, such a name is `unknown`.
 */
export type TargetVerdict = 'reachable' | 'private' | 'never' | 'not-public' | 'unknown';

export interface WebhookSenderOptions {
  readonly allowPrivateTargets: boolean;
  readonly resolve: ResolveHost;
  /** Limits name resolution, connection and response together. */
  readonly timeoutMs: number;
  /** PEM certificates to trust instead of the well-known ones. */
  readonly ca?: string;
}

/** The rest of a response is not awaited. */
export const maxKeptResponseBytes = 1_024;

const canceled: DeliveryError = { code: 'canceled', text: 'The server canceled the request.' };
const redirect: DeliveryError = { code: 'redirect', text: 'Redirects are not followed.' };

/** Resolves the host once and connects to a checked address only, also when it reuses a connection. */
export class WebhookSender {
  readonly #options: WebhookSenderOptions;
  readonly #http = createPinnedAgent(HttpAgent);
  readonly #https = createPinnedAgent(HttpsAgent);

  constructor(options: WebhookSenderOptions) {
    this.#options = options;
  }

  /** Never rejects: failures are responses with an error. */
  send(request: WebhookRequest): Promise<WebhookResponse> {
    const { timeoutMs = this.#options.timeoutMs, maxResponseBytes = maxKeptResponseBytes } = request;
    return new Promise(resolve => {
      const exchange = new Exchange(maxResponseBytes, answer => {
        clearTimeout(timer);
        request.signal.removeEventListener('abort', abort);
        resolve(answer);
      });
      const late: DeliveryError = { code: 'timeout', text: `No response within ${timeoutMs / 1_000} s.` };
      const timer = setTimeout(() => exchange.end(late), timeoutMs);
      const abort = () => exchange.end(canceled);
      request.signal.addEventListener('abort', abort);
      if (request.signal.aborted) abort();
      else this.#exchange(request, exchange).catch(error => exchange.end(deliveryErrorOf(error)));
    });
  }

  /** Does not connect. @throws Error when the name server does not answer, such as `ETIMEOUT` */
  async checkUrl(url: string): Promise<TargetVerdict> {
    const { hostname } = new URL(url);
    const { allowPrivateTargets: allowPrivate, resolve } = this.#options;
    // The class of a literal address is public; of a name, only whether it is reachable.
    const written = classifyHostLiteral(hostname);
    if (written === 'never') return 'never';
    if (written === 'private' && !allowPrivate) return 'private';
    const target = await resolveTarget(hostname, { allowPrivate, resolve });
    if (target.accepted) return 'reachable';
    return allowPrivate ? 'unknown' : 'not-public';
  }

  stop(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  async #exchange(request: WebhookRequest, exchange: Exchange): Promise<void> {
    const url = new URL(request.url);
    const target = await resolveTarget(url.hostname, {
      allowPrivate: this.#options.allowPrivateTargets,
      resolve: this.#options.resolve,
    });
    if (exchange.isOver) return;
    if (!target.accepted) {
      exchange.end({ code: 'host-not-public', text: target.reason });
      return;
    }
    const isTls = url.protocol === 'https:';
    const send = (isFresh: boolean) => {
      const options: Parameters<typeof requestHttps>[1] & PinnedOptions = {
        ...urlToHttpOptions(url),
        method: 'POST',
        headers: { ...request.headers, 'content-length': String(Buffer.byteLength(request.body)) },
        agent: isFresh ? false : isTls ? this.#https : this.#http,
        lookup: pinnedLookup(target.addresses),
        pinnedTo: target.addresses
          .map(({ address }) => address)
          .sort()
          .join(','),
        rejectUnauthorized: true,
        ...(this.#options.ca === undefined ? {} : { ca: this.#options.ca }),
      };
      const sent = isTls ? requestHttps(options) : requestHttp(options);
      exchange.follow(sent);
      sent.on('error', error => {
        // The receiver closed an idle connection as it was reused, so most likely it has not read the
        // request.
        const isStale = sent.reusedSocket && !isFresh && systemCodeOf(error) === 'ECONNRESET';
        if (isStale && !exchange.isOver && !exchange.isAnswered) send(true);
        else exchange.end(deliveryErrorOf(error));
      });
      sent.on('close', () => {
        if (exchange.isCurrent(sent)) exchange.end(connectionClosed);
      });
      sent.end(request.body);
    };
    send(false);
  }
}

class Exchange {
  readonly #maxResponseBytes: number;
  readonly #done: (answer: WebhookResponse) => void;
  #request: ClientRequest | undefined;
  #statusCode: number | undefined;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #isComplete = false;
  isOver = false;

  constructor(maxResponseBytes: number, done: (answer: WebhookResponse) => void) {
    this.#maxResponseBytes = maxResponseBytes;
    this.#done = done;
  }

  get isAnswered(): boolean {
    return this.#statusCode !== undefined;
  }

  follow(request: ClientRequest): void {
    this.#request = request;
    request.once('response', response => this.#read(response));
    // Ends the response at 101: no more HTTP follows.
    request.once('upgrade', (response, socket) => {
      this.#statusCode = response.statusCode;
      socket.destroy();
      this.end();
    });
  }

  isCurrent(request: ClientRequest): boolean {
    return this.#request === request;
  }

  /** Once a status has arrived it counts, however the body ends. */
  end(error?: DeliveryError): void {
    this.#finish(this.isAnswered ? undefined : error);
    this.#request?.destroy();
  }

  #read(response: IncomingMessage): void {
    this.#statusCode = response.statusCode;
    response.on('data', (chunk: Buffer) => {
      this.#kept.push(chunk);
      this.#keptBytes += chunk.length;
      if (this.#keptBytes > this.#maxResponseBytes) this.end();
    });
    response.once('end', () => {
      this.#isComplete = true;
    });
    for (const event of ['end', 'error', 'close']) response.on(event, () => this.#finish(undefined));
  }

  #finish(error: DeliveryError | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    const statusCode = this.#statusCode;
    const isRedirect = statusCode !== undefined && statusCode >= 300 && statusCode < 400;
    this.#done({
      statusCode,
      error: error ?? (isRedirect ? redirect : undefined),
      response: statusCode === undefined ? undefined : this.#text(),
      ...(statusCode === undefined || this.#isComplete ? {} : { isTruncated: true }),
    });
  }

  /** Drops a truncated character at the end. PostgreSQL stores no NUL. */
  #text(): string {
    const bytes = Buffer.concat(this.#kept).subarray(0, this.#maxResponseBytes);
    return new TextDecoder().decode(bytes, { stream: true }).replaceAll('\0', '\ufffd');
  }
}
