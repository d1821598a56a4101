import type { AddressInfo, Server, Socket } from 'node:net';

/** Listens for a child process on a free port of this machine, and owns the sockets of its connections. */
export class LoopbackServer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #closing = new AbortController();

  /** @param server of TCP or HTTP, not started */
  constructor(server: Server, maxConnections: number) {
    this.#server = server;
    server.maxConnections = maxConnections;
    server.on('connection', socket => this.own(socket));
  }

  async start(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once('error', reject);
    this.#server.listen(0, '127.0.0.1', resolve);
    await promise;
  }

  /** Once started. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Aborted by {@link close}. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Ends a socket with the server, and its errors with the socket. */
  own(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => this.#sockets.delete(socket));
  }

  close(): void {
    this.#closing.abort();
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
