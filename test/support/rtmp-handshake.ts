import type { Socket } from 'node:net';

const packetBytes = 1536;

/** Answers the handshake of a client, then calls `then` once and passes on the bytes that follow. */
export function answerHandshake(
  socket: Socket,
  then: () => void,
  onBytes: (bytes: Buffer) => void = () => {},
): void {
  let read = Buffer.alloc(0);
  let stage = 0;
  socket.on('data', bytes => {
    read = Buffer.concat([read, bytes]);
    if (stage === 0 && read.length > packetBytes) {
      stage = 1;
      socket.write(
        Buffer.concat([Buffer.from([3]), Buffer.alloc(packetBytes, 7), read.subarray(1, 1 + packetBytes)]),
      );
    }
    if (stage === 1 && read.length >= 1 + 2 * packetBytes) {
      stage = 2;
      read = read.subarray(1 + 2 * packetBytes);
      then();
    }
    if (stage < 2 || read.length === 0) return;
    const rest = read;
    read = Buffer.alloc(0);
    onBytes(rest);
  });
}
