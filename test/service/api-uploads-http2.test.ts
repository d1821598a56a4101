import { writeFile } from 'node:fs/promises';
import { type ClientHttp2Session, connect } from 'node:http2';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { CertificateFiles } from '../../src/http/listener/certificate-files.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { makeSelfSigned } from '../support/self-signed.ts';
import { basic, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { digestOf, digestOfFile, noise, UploadsOfTest } from './upload-fixture.ts';

let server: TestApi;
let folder: string;
let certificate: CertificateFiles;
let session: ClientHttp2Session;
const uploads = new UploadsOfTest(() => server);
beforeAll(async () => {
  folder = await makeTempDir();
  const { cert, key } = makeSelfSigned('localhost');
  const files = { certPath: join(folder, 'cert.pem'), keyPath: join(folder, 'key.pem') };
  await writeFile(files.certPath, cert);
  await writeFile(files.keyPath, key);
  certificate = new CertificateFiles({ ...files, log: silentLogger });
  await certificate.start();
  server = await startApi({ https: { port: 0, certificate } });
  session = connect(`https://127.0.0.1:${server.listener.httpsPort}`, { rejectUnauthorized: false });
});
afterAll(async () => {
  session.destroy();
  await server.stop();
  await certificate.stop();
  await removeDir(folder);
});

/** Sends a body of one file, or the first half of it and then nothing. */
function send(path: string, bytes: Buffer, options: { isHalf?: boolean } = {}) {
  const body = Buffer.concat([
    Buffer.from('--bound\r\nContent-Disposition: form-data; name="file"; filename="a.mp4"\r\n\r\n'),
    bytes,
    Buffer.from('\r\n--bound--\r\n'),
  ]);
  const stream = session.request({
    ':method': 'POST',
    ':path': path,
    authorization: basic(sandboxKey),
    'content-type': 'multipart/form-data; boundary=bound',
    'content-length': String(body.length),
  });
  if (options.isHalf === true) stream.write(body.subarray(0, body.length / 2));
  else stream.end(body);
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    let status = 0;
    let text = '';
    stream.setEncoding('utf8');
    stream.on('response', headers => {
      status = headers[':status'] ?? 0;
    });
    stream.on('data', data => {
      text += data;
      // A refusal of what is still coming ends only later.
      if (text.endsWith('}')) resolve({ status, text });
    });
    stream.on('error', reject);
  });
}

it('an upload over HTTP/2 is stored', async () => {
  const bytes = noise(3_000_000);
  const videoId = await uploads.video();
  expect((await send(`/videos/${videoId}/source`, bytes)).status).toBe(201);
  expect(await digestOfFile(uploads.sourcePath(videoId))).toBe(digestOf(bytes));
});

it('a refusal over HTTP/2 comes before the body, and leaves the connection as it is', async () => {
  const half = await send('/videos/vi-unknown/source', noise(200_000), { isHalf: true });
  expect(half.status).toBe(404);
  expect(half.text).toContain('"name":"videoId"');
  expect((await send('/videos/vi-unknown/source', noise(3_000_000))).status).toBe(404);
  const videoId = await uploads.video();
  expect((await send(`/videos/${videoId}/source`, noise(1_000))).status).toBe(201);
});
