import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';

/** The simple handshake. RTMP 1.0, 5.2. */

const VERSION = 3;
const PACKET_BYTES = 1536;
/** Time and zero, before the random bytes (5.2.3). */
const HEAD_BYTES = 8;

/**
 * Leaves the bytes after S2 in the paused socket.
 * @returns true when the peer speaks RTMP; pending while it is silent
 */
export function performClientHandshake(socket: Socket): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let read = Buffer.alloc(0);
  let isAnswered = false;
  const take = (bytes: Buffer) => {
    read = Buffer.concat([read, bytes]);
    const speaksRtmp = read[0] === VERSION;
    if (speaksRtmp && !isAnswered && read.length > PACKET_BYTES) {
      isAnswered = true;
      socket.write(read.subarray(1, 1 + PACKET_BYTES));
    }
    if (speaksRtmp && read.length < 1 + 2 * PACKET_BYTES) return;
    socket.off('data', take);
    socket.pause();
    const rest = read.subarray(1 + 2 * PACKET_BYTES);
    if (rest.length > 0) socket.unshift(rest);
    resolve(speaksRtmp);
  };
  socket.on('data', take);
  socket.write(Buffer.concat([Buffer.from([VERSION]), newPacket()]));
  return promise;
}

function newPacket(): Buffer {
  return Buffer.concat([Buffer.alloc(HEAD_BYTES), randomBytes(PACKET_BYTES - HEAD_BYTES)]);
}
