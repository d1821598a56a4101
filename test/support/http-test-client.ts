import { Agent, request } from 'node:http';
import { waitTimeoutMs } from './deadlines.ts';

/** Answer of a server. */
export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A request as it is sent: nothing is added to it but what HTTP needs. */
export interface HttpQuery {
  readonly method: string;
  /** Path with its query, encoded as it is to go out. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string | undefined;
}

/** Asks one server again and again over a few connections that stay open: far more quickly than `fetch`. */
export class HttpTestClient {
  readonly #port: number;
  readonly #agent: Agent;
  readonly #maxConcurrent: number;

  constructor(port: number, atOnce = 24) {
    this.#port = port;
    this.#maxConcurrent = atOnce;
    this.#agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  }

  /** Sends a request and reads the whole answer. */
  send({ method, path, headers = {}, body }: HttpQuery): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const outgoing = request({
        host: '127.0.0.1',
        port: this.#port,
        agent: this.#agent,
        method,
        path,
        headers: { ...length, ...headers },
      });
      outgoing.on('error', reject);
      outgoing.setTimeout(waitTimeoutMs, () => outgoing.destroy(new Error('nothing was answered')));
      outgoing.on('response', response => {
        const chunks: Buffer[] = [];
        response.on('error', reject).on('data', chunk => void chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      });
      outgoing.end(body);
    });
  }

  /** Does `work` for each item, some at once. */
  async inParallel<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
    const left = items.values();
    await Promise.all(
      Array.from({ length: this.#maxConcurrent }, async () => {
        for (const item of left) await work(item);
      }),
    );
  }

  /** Closes its connections. */
  stop(): void {
    this.#agent.destroy();
  }
}
