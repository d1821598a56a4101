import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { Random } from './random.ts';

export interface LossyProxyOptions {
  /** UDP port on 127.0.0.1. */
  readonly target: number;
  readonly seed: number;
  /** Loss of 1000 datagrams, in each direction. */
  readonly lossPerMille: number;
  /** Delay in each direction. */
  readonly delayMs: number;
  /** Bits per second to the client. Datagrams that would wait longer than 200 ms are dropped. Unlimited unless given. */
  readonly rate?: number;
  /** Drops datagrams to the server. */
  readonly loses?: (datagram: Buffer) => boolean;
}

const maxQueueMs = 200;

/** A network between a client and a server of UDP that delays every datagram and drops some. */
export class LossyProxy {
  /** May change at any time. */
  lossPerMille: number;
  dropped = 0;
  readonly #options: LossyProxyOptions;
  readonly #random: Random;
  readonly #front = createSocket('udp4');
  readonly #backs = new Map<number, Socket>();
  #freeAtMs = 0;
  #isClosed = false;

  private constructor(options: LossyProxyOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.lossPerMille = options.lossPerMille;
  }

  static async start(options: LossyProxyOptions): Promise<LossyProxy> {
    const proxy = new LossyProxy(options);
    proxy.#front.on('message', (datagram, { port }) => proxy.#toServer(datagram, port));
    proxy.#front.bind(0, '127.0.0.1');
    await once(proxy.#front, 'listening');
    return proxy;
  }

  get port(): number {
    return this.#front.address().port;
  }

  close(): void {
    this.#isClosed = true;
    this.#front.close();
    for (const back of this.#backs.values()) back.close();
  }

  #toServer(datagram: Buffer, clientPort: number): void {
    let back = this.#backs.get(clientPort);
    if (back === undefined) {
      back = createSocket('udp4');
      back.on('message', answer => {
        const waitMs = this.#queue(answer.length);
        if (waitMs === undefined) this.dropped += 1;
        else this.#pass(() => this.#front.send(answer, clientPort, '127.0.0.1'), waitMs);
      });
      this.#backs.set(clientPort, back);
    }
    const { target, loses } = this.#options;
    if (loses?.(datagram)) this.dropped += 1;
    else this.#pass(() => back.send(datagram, target, '127.0.0.1'));
  }

  /** Returns when the last bit is sent, in ms from now; undefined when the queue is full. */
  #queue(bytes: number): number | undefined {
    const { rate } = this.#options;
    if (rate === undefined) return 0;
    const nowMs = performance.now();
    const startMs = Math.max(nowMs, this.#freeAtMs);
    if (startMs - nowMs > maxQueueMs) return undefined;
    this.#freeAtMs = startMs + (bytes * 8_000) / rate;
    return this.#freeAtMs - nowMs;
  }

  #pass(send: () => void, waitMs = 0): void {
    if (this.#random.below(1_000) < this.lossPerMille) {
      this.dropped += 1;
      return;
    }
    setTimeout(() => {
      if (!this.#isClosed) send();
    }, this.#options.delayMs + waitMs);
  }
}
