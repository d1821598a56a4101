import { openAsBlob } from 'node:fs';
import http from 'node:http';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { basicAuthorization } from './server-process.ts';

/** A file on its way to a video. */
interface FileUpload {
  /** URL of the server, such as `http://127.0.0.1:8080`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly videoId: string;
  /** The file. */
  readonly path: string;
  /** Gives the upload up. */
  readonly signal: AbortSignal;
  /** Reports the bytes that the connection has sent. */
  onProgress(sentBytes: number, allBytes: number): void;
}

const boundary = 'a-line-that-no-film-holds-7Hq2Lm9Rz';

/**
 * Sends a file to `POST /videos/{videoId}/source` in one request. `lastByteAtMs` is on the clock of `performance.now()`.
 *
 * @throws Error when the server answers anything but 201, with what it said.
 */
export async function uploadFile(upload: FileUpload): Promise<{ bytes: number; lastByteAtMs: number }> {
  const file = await openAsBlob(upload.path);
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${basename(upload.path)}"\r\n` +
      'Content-Type: video/mp4\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const request = http.request(`${upload.baseUrl}/videos/${upload.videoId}/source`, {
    method: 'POST',
    signal: upload.signal,
    headers: {
      authorization: basicAuthorization(upload.apiKey),
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': head.length + file.size + tail.length,
    },
  });
  const answered = new Promise<http.IncomingMessage>((resolve, reject) =>
    request.once('response', resolve).once('error', reject),
  );
  let lastByteAtMs = 0;
  async function* body() {
    yield head;
    let sentBytes = 0;
    for await (const chunk of file.stream()) {
      yield chunk;
      sentBytes += chunk.byteLength;
      upload.onProgress(sentBytes, file.size);
    }
    yield tail;
    lastByteAtMs = performance.now();
  }
  // A server that refuses answers before the end of the body: its answer says more than the broken connection.
  const sent = pipeline(body, request).catch(() => {});
  const answer = await answered;
  const text = await readText(answer);
  await sent;
  if (answer.statusCode !== 201) {
    throw new Error(`POST /videos/${upload.videoId}/source answered ${answer.statusCode}: ${text}`);
  }
  return { bytes: file.size, lastByteAtMs };
}

async function readText(answer: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
