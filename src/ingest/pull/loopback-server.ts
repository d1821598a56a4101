import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { AddressInfo, Server, Socket } from 'node:net';

/**
 * Listens for a child process on a free port of this machine, and owns the sockets of its connections. Every user of the machine
 * can connect, so the child has to show the secret.
 */
export class LoopbackServer {
  /** Hexadecimal. */
  readonly secret = randomBytes(16).toString('hex');
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

  /** Host and port; valid after the start. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Compares in constant time. */
  isSecret(text: string): boolean {
    const [given, wanted] = [Buffer.from(text), Buffer.from(this.secret)];
    return given.length === wanted.length && timingSafeEqual(given, wanted);
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

/** False for a connection of another user of this machine, who can read the arguments of our children. */
export async function isOfOurUser({ localPort, remotePort }: Socket): Promise<boolean> {
  const table = await readFile('/proc/net/tcp', 'latin1').catch(() => '');
  const ends = [remotePort, localPort].map(
    port => `:${(port ?? 0).toString(16).toUpperCase().padStart(4, '0')}`,
  );
  for (const line of table.split('\n')) {
    const [, local = '', remote = '', , , , , user] = line.trim().split(/\s+/);
    if (local.endsWith(ends[0]!) && remote.endsWith(ends[1]!)) return Number(user) === process.getuid?.();
  }
  // Other systems do not tell.
  return table === '';
}
