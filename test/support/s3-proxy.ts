import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { S3Server } from './s3.ts';

export interface S3Request {
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  readonly range: string | undefined;
  readonly headers: http.IncomingHttpHeaders;
}

export type S3ProxyFault =
  | { readonly kind: 'answer'; readonly status: number; readonly code: string; readonly body?: string }
  /** Cuts the answer. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** Ends the connection before the request is complete. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'delay'; readonly ms: number }
  /** Changes the first byte of the answer. */
  | { readonly kind: 'flip' };

/** Passes requests on to an S3 server, notes them, and breaks those that a test chooses. */
export class S3Proxy {
  readonly endpoint: string;
  readonly requests: S3Request[] = [];
  /** Maximum requests at the same time. */
  maxRunning = 0;
  #running = 0;
  fault: (request: S3Request) => S3ProxyFault | undefined = () => undefined;
  readonly #server: http.Server;

  private constructor(server: http.Server) {
    this.#server = server;
    this.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async start(target: string): Promise<S3Proxy> {
    const server = http.createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new S3Proxy(server);
    server.on('request', (incoming, outgoing) => {
      proxy.#pass(target, incoming, outgoing).catch(() => incoming.socket.destroy());
    });
    return proxy;
  }

  count(matches: (request: S3Request) => boolean): number {
    return this.requests.filter(matches).length;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #pass(target: string, incoming: http.IncomingMessage, outgoing: http.ServerResponse): Promise<void> {
    const request = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      range: incoming.headers.range,
      headers: incoming.headers,
    };
    this.requests.push(request);
    this.#running += 1;
    this.maxRunning = Math.max(this.maxRunning, this.#running);
    outgoing.once('close', () => {
      this.#running -= 1;
    });
    const fault = this.fault(request);
    if (fault?.kind === 'reset') {
      incoming.socket.destroy();
      return;
    }
    if (fault?.kind === 'delay') await sleep(fault.ms);
    if (fault?.kind === 'answer') {
      incoming.resume();
      await once(incoming, 'end');
      outgoing.writeHead(fault.status, { 'content-type': 'application/xml' });
      const error = `<Error><Code>${fault.code}</Code><Message>${fault.code} of a test</Message></Error>`;
      outgoing.end(fault.body ?? error);
      return;
    }
    const passed = http.request(target + request.path, {
      method: request.method,
      headers: incoming.headers,
      agent: false,
    });
    // A client that ends its request early ends this one, too, at any time.
    passed.on('error', () => incoming.socket.destroy());
    incoming.once('close', () => {
      if (!incoming.complete) passed.destroy();
    });
    incoming.pipe(passed);
    const [answer] = (await once(passed, 'response')) as [http.IncomingMessage];
    answer.on('error', () => incoming.socket.destroy());
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    if (fault?.kind === 'flip') {
      answer.once('data', (chunk: Buffer) => {
        chunk[0]! ^= 1;
      });
    }
    if (fault?.kind !== 'cut') {
      answer.pipe(outgoing);
      return;
    }
    let left = fault.afterBytes;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      outgoing.write(chunk.subarray(0, left));
      left -= chunk.length;
      if (left <= 0) break;
    }
    // The bytes before the cut reach the client.
    await sleep(20);
    outgoing.destroy();
  }
}

let buckets = 0;

/** A new bucket, and a proxy that ends with the test. */
export async function proxiedBucket(
  server: S3Server,
): Promise<{ readonly bucket: string; readonly proxy: S3Proxy }> {
  buckets += 1;
  const bucket = `proxied-${buckets}`;
  await server.makeBucket(bucket);
  const proxy = await S3Proxy.start(server.endpoint);
  onTestFinished(() => proxy.stop());
  return { bucket, proxy };
}
