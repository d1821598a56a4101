import { randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { AddressInfo, Server, Socket } from 'node:net';
import { sandboxListenerAddress } from '../../ffmpeg/process/sandbox-listener.ts';

/**
 * Serves a child process, and owns the sockets of its connections. A child in a sandbox connects to a listener there. For others it
 * listens on a free port of this machine, where every user can connect, so the child has to show the secret.
 */
export class LoopbackServer {
  /** Hexadecimal. */
  readonly secret = randomBytes(16).toString('hex');
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #sandboxListeners = new Set<Server>();
  readonly #sandboxSockets = new WeakSet<Socket>();
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

  /** Accepts the connections of a child in its sandbox. */
  adopt(listener: Server): void {
    if (this.closing.aborted) {
      listener.close();
      return;
    }
    this.#sandboxListeners.add(listener);
    listener.maxConnections = this.#server.maxConnections;
    listener.on('error', () => {});
    listener.on('connection', (socket: Socket) => {
      this.#sandboxSockets.add(socket.setNoDelay());
      this.#server.emit('connection', socket);
    });
  }

  /** Host and port for the child: on this machine once started, in the sandbox otherwise. */
  get host(): string {
    const address = this.#server.address() as AddressInfo | null;
    return `127.0.0.1:${(address ?? sandboxListenerAddress).port}`;
  }

  /** False for a connection of another user of this machine, who can read the arguments of our children. */
  async isOfOurUser(socket: Socket): Promise<boolean> {
    return this.#sandboxSockets.has(socket) || isOfOurUser(socket);
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
    for (const listener of this.#sandboxListeners) listener.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

async function isOfOurUser({ localPort, remotePort }: Socket): Promise<boolean> {
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
