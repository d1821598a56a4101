import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { OnDemandInterval } from '../../shared/scheduling/on-demand-interval.ts';
import { FastConnection, type FastConnectionOptions } from './fast-connection.ts';

export interface FastPathOptions extends FastConnectionOptions {
  readonly failed: (error: unknown) => void;
}

/**
 * Serves simple GET requests without Node's HTTP server, which takes longer than sending a part. Everything else
 * on a connection goes to that server, from the first request that is not simple on.
 */
export class FastPath {
  readonly #server: Server;
  readonly #options: FastPathOptions;
  /** Parser of the HTTP server. */
  readonly #parse: readonly CallableFunction[];
  readonly #connections = new Set<FastConnection>();
  readonly #sweeps: OnDemandInterval;
  isDraining = false;

  /** Call before anything else listens for connections. */
  constructor(server: Server, options: FastPathOptions) {
    this.#server = server;
    this.#options = options;
    const { headersTimeoutMs, keepAliveTimeoutMs } = options;
    const intervalMs = Math.min(headersTimeoutMs, keepAliveTimeoutMs) / 4;
    this.#sweeps = new OnDemandInterval(intervalMs, () => this.#sweep(intervalMs));
    this.#parse = server.listeners('connection');
    server.removeAllListeners('connection');
    server.on('connection', socket => this.#open(socket));
  }

  get openResponses(): number {
    let count = 0;
    for (const connection of this.#connections) if (connection.isResponding) count += 1;
    return count;
  }

  /** Closes connections, those with a response after it. */
  drain(): void {
    this.isDraining = true;
    for (const connection of this.#connections) connection.closeAfterResponse();
  }

  handOver(connection: FastConnection, bytes: Buffer): void {
    const { socket } = connection;
    this.#forget(connection);
    if (socket.destroyed) return;
    socket.pause();
    if (bytes.length > 0) socket.unshift(bytes);
    for (const listener of this.#parse) Reflect.apply(listener, this.#server, [socket]);
    socket.resume();
  }

  timedOut(connection: FastConnection): void {
    const { socket } = connection;
    this.#forget(connection);
    socket.on('error', () => {});
    const error = Object.assign(new Error('Request timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
    if (!this.#server.emit('clientError', error, socket)) socket.destroy();
  }

  failed(error: unknown): void {
    this.#options.failed(error);
  }

  #sweep(intervalMs: number): boolean {
    for (const connection of this.#connections) connection.sweep(intervalMs);
    return this.#connections.size > 0;
  }

  #open(socket: Socket): void {
    const connection = new FastConnection(socket, this.#options, this);
    this.#connections.add(connection);
    this.#sweeps.wake();
    socket.once('close', () => this.#connections.delete(connection));
  }

  #forget(connection: FastConnection): void {
    this.#connections.delete(connection);
    connection.release();
  }
}
