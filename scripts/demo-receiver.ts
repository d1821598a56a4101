import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

const oldestSeconds = 300;

/** What a webhook says, as far as it is shown here. */
export interface WebhookEvent {
  readonly type: string;
  readonly encoding?: string;
  readonly quality?: string;
}

/** A webhook receiver as an integrator would write it: it believes only what the server has signed within the last minutes. */
export class DemoReceiver {
  readonly address: string;
  readonly #server: Server;
  #secret: string | undefined;
  readonly #onEvent: (event: WebhookEvent) => void;
  readonly #onForgery: (body: string) => void;

  private constructor(
    server: Server,
    onEvent: (event: WebhookEvent) => void,
    onForgery: (body: string) => void,
  ) {
    this.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    this.#server = server;
    this.#onEvent = onEvent;
    this.#onForgery = onForgery;
    server.on('request', (request, response) => {
      this.#receive(request, response).catch(() => response.destroy());
    });
  }

  /** Listens on a free port of this machine. `onForgery` gets the bodies whose signature does not hold. */
  static async start(
    onEvent: (event: WebhookEvent) => void,
    onForgery: (body: string) => void,
  ): Promise<DemoReceiver> {
    const server = createServer();
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen(0, '127.0.0.1', resolve),
    );
    return new DemoReceiver(server, onEvent, onForgery);
  }

  /** Gives it the `signatureSecret` of the webhook. */
  trust(secret: string): void {
    this.#secret = secret;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const isGenuine = this.#isGenuine(request.headers['millrace-signature'], body);
    response.writeHead(isGenuine ? 200 : 400).end();
    if (isGenuine) this.#onEvent(JSON.parse(body) as WebhookEvent);
    else this.#onForgery(body);
  }

  #isGenuine(header: string | string[] | undefined, body: string): boolean {
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(header)) ?? [];
    if (this.#secret === undefined || t === undefined || v1 === undefined) return false;
    if (Math.abs(Date.now() / 1000 - Number(t)) > oldestSeconds) return false;
    const expected = createHmac('sha256', this.#secret).update(`${t}.${body}`).digest();
    return timingSafeEqual(Buffer.from(v1, 'hex'), expected);
  }
}
