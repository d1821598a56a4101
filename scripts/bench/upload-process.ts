/** Uploads one file over one connection, with as little work as can be, and reports how long that took. */
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { connect } from 'node:net';

/** What to upload, and where to. */
export interface UploadOrder {
  readonly port: number;
  readonly path: string;
  /** Value of `Authorization`. */
  readonly authorization: string;
  readonly file: string;
}

/** How an upload went. */
export interface UploadReport {
  /** From the first byte sent to the end of the answer's head. */
  readonly ms: number;
  readonly status: number;
}

const readBytes = 1_024 * 1_024;
const buffersInTurn = 4;
const boundary = 'bound-of-the-upload-bench';

const order = JSON.parse(process.argv[2]!) as UploadOrder;
process.on('message', () => process.exit());
process.on('disconnect', () => process.exit());
process.send?.(await upload(order));

async function upload({ port, path, authorization, file }: UploadOrder): Promise<UploadReport> {
  const handle = await open(file, 'r');
  const { size } = await handle.stat();
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="bench.mp4"\r\n\r\n`;
  const tail = `\r\n--${boundary}--\r\n`;
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  await once(socket, 'connect');
  const answered = once(socket, 'data') as Promise<[Buffer]>;
  const beganMs = performance.now();
  socket.write(
    [
      `POST ${path} HTTP/1.1`,
      `Host: 127.0.0.1:${port}`,
      `Authorization: ${authorization}`,
      `Content-Type: multipart/form-data; boundary=${boundary}`,
      `Content-Length: ${head.length + size + tail.length}`,
      '',
      head,
    ].join('\r\n'),
  );
  const buffers = Array.from({ length: buffersInTurn }, () => Buffer.allocUnsafe(readBytes));
  for (let turn = 0; ; turn = (turn + 1) % buffersInTurn) {
    const { bytesRead } = await handle.read(buffers[turn]!, 0, readBytes, null);
    if (bytesRead === 0) break;
    // A buffer is used again only after those that follow it were taken, and with them it itself.
    if (!socket.write(buffers[turn]!.subarray(0, bytesRead))) await once(socket, 'drain');
  }
  socket.write(tail);
  const [answer] = await answered;
  const ms = performance.now() - beganMs;
  socket.destroy();
  await handle.close();
  return { ms, status: Number(answer.toString('latin1', 9, 12)) };
}
