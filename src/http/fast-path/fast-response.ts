import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';

/** A GET request without a body. */
export interface FastRequest {
  readonly method: 'GET';
  readonly httpVersion: '1.1';
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly socket: Socket;
}

interface ResponseOwner {
  /** Header lines of every response on the connection. */
  commonFields(): string;
  ended(): void;
}

const invalidField = /[^\t\x20-\x7e\x80-\xff]/;
interface FormattedHead {
  readonly lines: string;
  /** Fields of the connection that the formatted head has. */
  connectionFields: string;
  bytes: Buffer | undefined;
}

/** Formatted heads by frozen fields, which many responses of status 200 share. */
const formattedHeads = new WeakMap<readonly string[], FormattedHead>();

function formatHead(status: number, fields: readonly string[]): string {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  let isOfKnownLength = status === 204 || status === 304;
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index]!;
    const value = fields[index + 1]!;
    if (invalidField.test(value)) throw new Error(`the value of ${name} is no header`);
    if (name === 'Content-Length') isOfKnownLength = true;
    head += `${name}: ${value}\r\n`;
  }
  if (!isOfKnownLength) throw new Error('a response needs a Content-Length');
  return head;
}

/** The fields of connections are mostly the same, and change once a second. */
function sharedHead(fields: readonly string[], connectionFields: string): Buffer {
  let head = formattedHeads.get(fields);
  if (head === undefined) {
    head = { lines: formatHead(200, fields), connectionFields, bytes: undefined };
    formattedHeads.set(fields, head);
  }
  if (head.bytes === undefined || head.connectionFields !== connectionFields) {
    head.connectionFields = connectionFields;
    head.bytes = Buffer.from(`${head.lines}${connectionFields}\r\n`, 'latin1');
  }
  return head.bytes;
}

/** The part of `ServerResponse` that viewers' responses need: of known length, in one `writev` where possible. */
export class FastResponse {
  readonly req: FastRequest;
  readonly socket: Socket;
  readonly #owner: ResponseOwner;
  /** Head until it is written, with the first bytes of the body. */
  #head: Buffer | string | undefined;
  #corks = 0;
  #onClose: (() => void)[] | undefined;
  headersSent = false;
  writableEnded = false;
  writableFinished = false;
  destroyed = false;

  constructor(request: FastRequest, owner: ResponseOwner) {
    this.req = request;
    this.socket = request.socket;
    this.#owner = owner;
  }

  get writableLength(): number {
    return this.socket.writableLength;
  }

  /** @param fields names and values in turn, with a `Content-Length` where there is a body; frozen to be formatted once */
  writeHead(status: number, fields: readonly string[]): void {
    if (this.headersSent) throw new Error('the head of the response was sent');
    const connectionFields = this.#owner.commonFields();
    const isShared = status === 200 && Object.isFrozen(fields);
    this.#head = isShared
      ? sharedHead(fields, connectionFields)
      : `${formatHead(status, fields)}${connectionFields}\r\n`;
    this.headersSent = true;
  }

  write(chunk: Buffer | string, onSent?: (error?: Error | null) => void): boolean {
    const { socket } = this;
    if (this.destroyed) {
      onSent?.(new Error('the connection is closed'));
      return false;
    }
    if (this.#head === undefined) return socket.write(chunk, onSent);
    socket.cork();
    this.#writeHead(this.#head);
    const hasRoom = socket.write(chunk, onSent);
    socket.uncork();
    return hasRoom;
  }

  end(chunk?: Buffer | string): void {
    if (this.writableEnded || this.destroyed) return;
    if (chunk !== undefined) this.write(chunk);
    else if (this.#head !== undefined) this.#writeHead(this.#head);
    this.writableEnded = true;
    if (this.#corks === 0) this.#owner.ended();
  }

  #writeHead(head: Buffer | string): void {
    if (typeof head === 'string') this.socket.write(head, 'latin1');
    else this.socket.write(head);
    this.#head = undefined;
  }

  cork(): void {
    this.#corks += 1;
    this.socket.cork();
  }

  uncork(): void {
    if (this.#corks === 0) return;
    this.#corks -= 1;
    this.socket.uncork();
    if (this.#corks === 0 && this.writableEnded) this.#owner.ended();
  }

  once(event: 'close' | 'drain', listener: () => void): void {
    if (event === 'drain') this.socket.once('drain', listener);
    else if (this.#onClose === undefined) this.#onClose = [listener];
    else this.#onClose.push(listener);
  }

  /** @param isSent the kernel has all of it; otherwise the connection is gone */
  close(isSent: boolean): void {
    if (isSent) this.writableFinished = true;
    this.destroyed = true;
    const listeners = this.#onClose;
    this.#onClose = undefined;
    if (listeners !== undefined) for (const listener of listeners) listener();
  }
}
