import type { Socket } from 'node:net';
import { withoutBasePath } from '../../shared/network/base-path.ts';
import { type FastRequest, FastResponse } from './fast-response.ts';
import { RequestHeadReader } from './request-head.ts';

export interface FastConnectionOptions {
  /** @returns false to leave the request, untouched, to the HTTP server */
  readonly serve: (request: FastRequest, response: FastResponse) => boolean;
  /** Header lines for the responses to such a request, each with its line end. */
  readonly fieldsFor: (request: FastRequest) => string;
  /** Removed from the paths of requests that have it; `''` for none. */
  readonly basePath: string;
  readonly headersTimeoutMs: number;
  readonly keepAliveTimeoutMs: number;
}

interface ConnectionOwner {
  readonly isDraining: boolean;
  /** Gives the connection to the HTTP server, which gets `bytes` first. */
  handOver(connection: FastConnection, bytes: Buffer): void;
  timedOut(connection: FastConnection): void;
  failed(error: unknown): void;
}

/** Bytes that wait here; more wait in the kernel. */
const maxWaitingBytes = 16 * 1024;
const nothing = Buffer.alloc(0);

/** A connection that has sent nothing but simple requests so far, one at a time. */
export class FastConnection {
  readonly socket: Socket;
  readonly #options: FastConnectionOptions;
  readonly #owner: ConnectionOwner;
  readonly #heads = new RequestHeadReader();
  #response: FastResponse | undefined;
  /** Sent by the client before it has its response. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #ownFields = '';
  #hasServed = false;
  #idleSweeps = 0;
  #isClosing = false;

  constructor(socket: Socket, options: FastConnectionOptions, owner: ConnectionOwner) {
    this.socket = socket;
    this.#options = options;
    this.#owner = owner;
    socket.on('data', this.#onData).on('end', this.#onEnd);
    socket.on('error', ignoreError).on('close', this.#onClose);
  }

  get isResponding(): boolean {
    return this.#response !== undefined;
  }

  closeAfterResponse(): void {
    if (this.#response === undefined) this.socket.destroySoon();
  }

  /** Leaves the socket to someone else. */
  release(): void {
    const { socket } = this;
    socket.off('data', this.#onData).off('end', this.#onEnd);
    socket.off('error', ignoreError).off('close', this.#onClose);
  }

  /** Costs a request less than a timer for each socket. */
  sweep(intervalMs: number): void {
    if (this.#response !== undefined) return;
    this.#idleSweeps += 1;
    const idleMs = this.#idleSweeps * intervalMs;
    if (!this.#hasServed && idleMs > this.#options.headersTimeoutMs) this.#owner.timedOut(this);
    else if (idleMs > this.#options.keepAliveTimeoutMs) this.socket.destroy();
  }

  commonFields(): string {
    const { isDraining } = this.#owner;
    this.#isClosing = isDraining;
    const shared = sharedFields(this.#options.keepAliveTimeoutMs, isDraining);
    return this.#ownFields === '' ? shared : this.#ownFields + shared;
  }

  /** The response was written; the kernel may not have taken all of it. */
  ended(): void {
    if (this.socket.writableLength === 0) this.#finish();
    else this.socket.write(nothing, this.#onSent);
  }

  readonly #onSent = (error?: Error | null): void => {
    if (error == null) this.#finish();
  };

  #finish(): void {
    const response = this.#response;
    if (response === undefined) return;
    this.#response = undefined;
    response.close(true);
    if (this.#isClosing || this.#owner.isDraining) {
      this.socket.destroySoon();
      return;
    }
    this.#hasServed = true;
    this.#idleSweeps = 0;
    if (this.#waitingBytes > 0) this.#serveWaiting();
  }

  #serveWaiting(): void {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.socket.resume();
    this.#serve(bytes);
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#response === undefined) {
      this.#serve(bytes);
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > maxWaitingBytes) this.socket.pause();
  };

  #serve(bytes: Buffer): void {
    const { socket } = this;
    const head = this.#heads.read(bytes);
    if (head === undefined) {
      this.#owner.handOver(this, bytes);
      return;
    }
    const { headers } = head;
    const url = withoutBasePath(head.url, this.#options.basePath);
    const request: FastRequest = { method: 'GET', httpVersion: '1.1', url, headers, socket };
    if (!head.isRepeated) this.#ownFields = this.#options.fieldsFor(request);
    const response = new FastResponse(request, this);
    this.#response = response;
    try {
      if (this.#options.serve(request, response)) return;
      this.#response = undefined;
      this.#owner.handOver(this, bytes);
    } catch (error) {
      this.#owner.failed(error);
      socket.destroy();
    }
  }

  /** Ends like the HTTP server, which gives nothing more to a client that closes its side. */
  readonly #onEnd = (): void => {
    const response = this.#response;
    if (response !== undefined && !response.writableEnded) {
      this.#response = undefined;
      response.close(false);
    }
    this.socket.end();
  };

  readonly #onClose = (): void => {
    const response = this.#response;
    this.#response = undefined;
    response?.close(false);
  };
}

const lastFields = { second: 0, keepAliveTimeoutMs: 0, isClosing: false, text: '' };

/** Made once a second. */
function sharedFields(keepAliveTimeoutMs: number, isClosing: boolean): string {
  const nowMs = Date.now();
  const second = Math.floor(nowMs / 1000);
  if (
    lastFields.second !== second ||
    lastFields.keepAliveTimeoutMs !== keepAliveTimeoutMs ||
    lastFields.isClosing !== isClosing
  ) {
    const keepAlive = `keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1000)}`;
    const connection = isClosing ? 'close' : keepAlive;
    const text = `Date: ${new Date(nowMs).toUTCString()}\r\nConnection: ${connection}\r\n`;
    Object.assign(lastFields, { second, keepAliveTimeoutMs, isClosing, text });
  }
  return lastFields.text;
}

function ignoreError(): void {
  // The end comes as `close`.
}
