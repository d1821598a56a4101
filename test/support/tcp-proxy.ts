import { once } from 'node:events';
import {
  type AddressInfo,
  connect,
  createServer,
  type NetConnectOpts,
  type Server,
  type Socket,
} from 'node:net';

/** Passes TCP connections on to a server, until it is cut. */
export class TcpProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  /** @param begin sends bytes of the proxy itself before those of a client */
  static async start(
    target: NetConnectOpts,
    begin?: (outgoing: Socket, incoming: Socket) => void | Promise<void>,
  ): Promise<TcpProxy> {
    const server = createServer({ noDelay: true });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new TcpProxy(server);
    server.on('connection', async incoming => {
      const outgoing = connect(target);
      incoming.on('error', () => {});
      await begin?.(
        outgoing.on('error', () => {}),
        incoming,
      );
      for (const [socket, other] of [
        [incoming, outgoing],
        [outgoing, incoming],
      ] as const) {
        proxy.#add(socket);
        socket.on('error', () => {});
        socket.on('close', () => other.destroy());
        socket.pipe(other);
      }
    });
    return proxy;
  }

  /** Passes nothing on, and ends no connection: as when the network is gone. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) silence(socket);
  }

  /** Ends the connections of before. New ones are passed on. */
  mend(): void {
    this.#isCut = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  async stop(): Promise<void> {
    this.mend();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #add(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    // `pipe` resumes it in this turn of the event loop.
    if (this.#isCut) setImmediate(() => silence(socket));
  }
}

function silence(socket: Socket): void {
  socket.unpipe();
  socket.pause();
}
