import { Socket } from 'node:net';

/** Size of the buffer, larger than most keyframes, which then take one read. */
const bufferBytes = 128 * 1024;

/** Buffer of all sockets: what is read into it is handled before the next read. */
const buffer = Buffer.allocUnsafeSlow(bufferBytes);

/**
 * Replaces an accepted socket by one that reads into a shared buffer: Node allocates 64 KiB per read otherwise, which costs
 * more than the read itself. `onread` is an option of outgoing connections only, so this takes the handle over, as
 * `pauseOnConnect` foresees it for passing connections on. Reading starts with `resume`; there are no `data` events.
 *
 * @param accepted of a server with `pauseOnConnect`
 * @param onData must not keep `data`
 */
export function withReadBuffer(accepted: Socket, onData: (data: Buffer) => void): Socket {
  const owner = accepted as unknown as { _handle: object | null };
  const options: object = {
    handle: owner._handle,
    onread: {
      buffer,
      callback: (bytes: number) => {
        onData(buffer.subarray(0, bytes));
        return true;
      },
    },
  };
  const socket = new Socket(options);
  owner._handle = null;
  // The server counts the accepted socket as a connection until it is closed.
  socket.once('close', () => accepted.destroy());
  return socket;
}
