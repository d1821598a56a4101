/**
 * A cheap RTMP destination in a process of its own: accepts every publisher and drops what it sends. Sends an {@link RtmpSinkReport}
 * once it listens, and one for each `report` that it is sent; any other message ends it.
 */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { ChunkReader } from '../../src/media/rtmp/chunk-reader.ts';
import { decodeAmf0, encodeAmf0 } from '../../test/support/amf0.ts';
import { writeChunks } from '../../test/support/rtmp-client.ts';

export interface RtmpSinkReport {
  readonly port: number;
  /** Connected now. */
  readonly connections: number;
  /** Received since the start. */
  readonly bytes: number;
}

const commandType = 20;
const c1End = 1 + 1536;
const handshakeBytes = c1End + 1536;
const maxMessageBytes = 1024 * 1024;

let bytes = 0;
let connections = 0;
const server = createServer({ noDelay: true }, socket => {
  connections += 1;
  socket.on('error', () => {});
  socket.on('close', () => {
    connections -= 1;
  });
  accept(socket);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
const port = address === null || typeof address === 'string' ? 0 : address.port;
const report = () => process.send?.({ port, connections, bytes } satisfies RtmpSinkReport);
process.on('message', message => {
  if (message === 'report') report();
  else process.exit(0);
});
process.once('disconnect', () => process.exit(0));
report();

/** Answers until the publisher is accepted; what comes later is only counted. */
function accept(socket: Socket): void {
  let handshake = Buffer.alloc(0);
  let isPublished = false;
  const reader = new ChunkReader(
    {
      maxMessageBytes: () => maxMessageBytes,
      maxUnfinishedBytes: () => maxMessageBytes,
      onMessageStart: () => {},
    },
    ({ type, payload }) => {
      if (type !== commandType) return;
      const [name, transactionId] = decodeAmf0(payload) as [string, number];
      const send = (...values: Parameters<typeof encodeAmf0>) =>
        socket.write(writeChunks({ type: commandType, payload: encodeAmf0(...values) }, 128));
      if (name === 'connect') {
        send(
          '_result',
          transactionId,
          { fmsVer: 'FMS/3,0,1,123' },
          { code: 'NetConnection.Connect.Success' },
        );
      } else if (name === 'createStream') {
        send('_result', transactionId, null, 1);
      } else if (name === 'publish') {
        send('onStatus', 0, null, { level: 'status', code: 'NetStream.Publish.Start', description: '' });
        isPublished = true;
      } else if (transactionId > 0) {
        send('_result', transactionId, null);
      }
    },
  );
  const read = (data: Buffer) => {
    bytes += data.length;
    if (isPublished) return;
    const missing = handshakeBytes - handshake.length;
    if (missing > 0) {
      const isAnswered = handshake.length >= c1End;
      handshake = Buffer.concat([handshake, data.subarray(0, missing)]);
      if (!isAnswered && handshake.length >= c1End) {
        socket.write(Buffer.concat([Buffer.from([3]), Buffer.alloc(1536), handshake.subarray(1, c1End)]));
      }
    }
    if (data.length > missing) reader.push(data.subarray(Math.max(0, missing)));
  };
  socket.on('data', read);
}
