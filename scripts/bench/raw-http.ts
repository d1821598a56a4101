import { connect, type Socket } from 'node:net';

/** An answer to a {@link RawHttp} request. */
export interface RawAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** One keep-alive connection that does one GET at a time with as little work as can be, so that the load costs less than the server. */
export class RawHttp {
  readonly #socket: Socket;
  readonly #host: string;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Bytes of head and body together, once the head is there. */
  #expectedBytes: number | undefined;
  #isChunked = false;
  #waiting: PromiseWithResolvers<RawAnswer> | undefined;

  constructor(port: number) {
    this.#host = `127.0.0.1:${port}`;
    this.#socket = connect({ host: '127.0.0.1', port, noDelay: true });
    this.#socket.on('data', chunk => this.#take(chunk));
    this.#socket.on('error', error => this.#waiting?.reject(error));
    this.#socket.on('close', () => this.#waiting?.reject(new Error('the server closed the connection')));
  }

  /** Asks for `path`, as it is unless another encoding is given. */
  get(path: string, encoding: 'identity' | 'gzip' = 'identity'): Promise<RawAnswer> {
    this.#waiting = Promise.withResolvers();
    this.#socket.write(`GET ${path} HTTP/1.1\r\nHost: ${this.#host}\r\nAccept-Encoding: ${encoding}\r\n\r\n`);
    return this.#waiting.promise;
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#expectedBytes === undefined) {
      const head = Buffer.concat(this.#chunks);
      const headEnd = head.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const fields = head.toString('latin1', 0, headEnd);
      const length = /content-length: (\d+)/i.exec(fields)?.[1];
      this.#isChunked = /transfer-encoding: chunked/i.test(fields);
      this.#expectedBytes = headEnd + 4 + Number(length ?? 0);
      this.#chunks = [head];
    }
    if (this.#bytes < this.#expectedBytes) return;
    const whole = Buffer.concat(this.#chunks);
    const sent = whole.subarray(whole.indexOf('\r\n\r\n') + 4);
    const body = this.#isChunked ? joinChunks(sent) : sent;
    if (body === undefined) return;
    this.#chunks = [];
    this.#bytes = 0;
    this.#expectedBytes = undefined;
    const status = Number(whole.toString('latin1', 9, 12));
    this.#waiting?.resolve({ status, body });
  }
}

/** RFC 9112, 7.1. @returns undefined until the last chunk is there */
function joinChunks(sent: Buffer): Buffer | undefined {
  const chunks: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = sent.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const length = Number.parseInt(sent.toString('latin1', at, lineEnd), 16);
    at = lineEnd + 2 + length + 2;
    if (at > sent.length) return undefined;
    if (length === 0) return Buffer.concat(chunks);
    chunks.push(sent.subarray(lineEnd + 2, at - 2));
  }
}
