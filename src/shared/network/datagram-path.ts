import { isIP } from 'node:net';
import { openUdpSocket } from './udp-socket.ts';

/** A path to one address; its owner closes it. */
export interface DatagramPath {
  /** Errors of the system end the path. */
  receive(onDatagram: (datagram: Buffer) => void, onError: (error: Error) => void): void;
  send(datagram: Buffer): void;
  close(): void;
}

/** @param address IP */
export async function openDatagramPath(address: string, port: number): Promise<DatagramPath> {
  let [onDatagram, onError]: [(datagram: Buffer) => void, (error: Error) => void] = [() => {}, () => {}];
  const socket = await openUdpSocket({
    host: isIP(address) === 6 ? '::' : '0.0.0.0',
    port: 0,
    receive: (datagram, from) => {
      if (from.port === port && from.address === address) onDatagram(datagram);
    },
    failed: error => onError(error),
  });
  return {
    receive: (...receivers) => {
      [onDatagram, onError] = receivers;
    },
    send: datagram => socket.send(datagram, port, address),
    close: () => void socket.close(),
  };
}
