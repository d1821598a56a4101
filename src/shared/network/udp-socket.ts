import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { lookup } from 'node:dns/promises';

/** The system may allow less, see `net.core.rmem_max`. */
const bufferBytes = 8 * 1024 ** 2;

export interface UdpSocket {
  readonly port: number;
  /** Errors are ignored: a datagram may be lost anyway. @param datagram or its parts @param port not 0 @param address IP */
  send(datagram: Buffer | readonly Buffer[], port: number, address: string): void;
  close(): Promise<void>;
}

interface UdpSocketOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** The datagram may be kept. */
  readonly receive: (datagram: Buffer, from: RemoteInfo) => void;
  readonly failed: (error: Error) => void;
}

/** @throws the system's error when the port cannot be used */
export async function openUdpSocket({ host, port, receive, failed }: UdpSocketOptions): Promise<UdpSocket> {
  const { address: localAddress, family } = await lookup(host);
  const socket: Socket = createSocket({
    type: family === 6 ? 'udp6' : 'udp4',
    recvBufferSize: bufferBytes,
    sendBufferSize: bufferBytes,
    // Addresses need no look-up, which would cost a turn of the event loop for each datagram.
    lookup: (address, _options, callback) => callback(null, address, family),
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once('error', reject);
  socket.bind({ port, address: localAddress }, resolve);
  try {
    await promise;
  } catch (error) {
    socket.close();
    throw error;
  }
  socket.off('error', reject);
  socket.on('error', failed);
  socket.on('message', (datagram, from) => {
    // Anyone can forge this port, to which nothing can be sent.
    if (from.port !== 0) receive(datagram, from);
  });
  let isOpen = true;
  return {
    port: socket.address().port,
    send(datagram, toPort, address) {
      // Node tells errors only to a callback, and sending with one costs a fifth more.
      if (isOpen) socket.send(datagram, toPort, address);
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await new Promise<void>(closed => socket.close(closed));
    },
  };
}
