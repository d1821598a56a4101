import { writeFile } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { get } from 'node:https';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseMediaPlaylist } from '../../scripts/parse-media-playlist.ts';
import { createLiveStream } from '../../scripts/server-process.ts';
import { parseMultivariantPlaylist } from '../../src/media/hls/multivariant-playlist.ts';
import { type Publisher, publishTestPicture } from '../support/ffmpeg.ts';
import { type LogLine, recordingLogger } from '../support/ingest-client.ts';
import { makeSelfSigned, type SelfSigned } from '../support/self-signed.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

let folder: string;
let first: SelfSigned;
let server: TestServer;
let publisher: Publisher;
let path: string;
const log: LogLine[] = [];

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

beforeAll(async () => {
  folder = await makeTempDir();
  first = makeSelfSigned('localhost');
  await writeCertificate(first);
  server = await startServer(
    {
      'tls.cert': join(folder, 'cert.pem'),
      'tls.key': join(folder, 'key.pem'),
      'https.port': '0',
      'rtmps.port': '0',
      'live.segmentTarget': '1s',
    },
    { log: recordingLogger(log) },
  );
  const stream = await createLiveStream(server.baseUrl, server.productionKey, 'over TLS');
  path = `/${stream.liveStreamId}.m3u8`;
  publisher = publishTestPicture({
    url: `rtmps://127.0.0.1:${server.app.rtmpsPort}/s/${stream.streamKey}`,
    size: '160x90',
    gopSeconds: 1,
  });
  await waitUntil(async () => (await http1(path)).status === 200, {
    everyMs: 50,
    what: () => `the stream over RTMPS; the publisher said:\n${publisher.stderr}`,
  });
});

afterAll(async () => {
  await publisher?.stop();
  await server?.stop();
  await removeDir(folder);
});

async function writeCertificate({ cert, key }: SelfSigned): Promise<void> {
  await writeFile(join(folder, 'key.pem'), key);
  await writeFile(join(folder, 'cert.pem'), cert);
}

/** A request over HTTP/1.1. The certificate is trusted, and must be the one that was made. */
function http1(requestPath: string, ca = first.cert): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const request = get(
    {
      host: '127.0.0.1',
      port: server.app.httpsPort,
      path: requestPath,
      ca,
      agent: false,
      checkServerIdentity: () => undefined,
    },
    response => {
      expect(response.httpVersion).toBe('1.1');
      const chunks: Buffer[] = [];
      response.on('data', chunk => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode!, body: Buffer.concat(chunks) }));
    },
  );
  request.on('error', reject);
  return promise;
}

/** Requests over one HTTP/2 connection. */
async function http2<Result>(
  work: (ask: (requestPath: string) => Promise<Answer>) => Promise<Result>,
): Promise<Result> {
  const session = connectHttp2(`https://127.0.0.1:${server.app.httpsPort}`, {
    ca: first.cert,
    checkServerIdentity: () => undefined,
  });
  const ask = (requestPath: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const stream = session.request({ ':path': requestPath });
    let status = 0;
    const chunks: Buffer[] = [];
    stream.on('response', headers => {
      status = Number(headers[':status']);
    });
    stream.on('data', chunk => chunks.push(chunk));
    stream.on('end', () => resolve({ status, body: Buffer.concat(chunks) }));
    stream.on('error', reject);
    return promise;
  };
  try {
    return await work(ask);
  } finally {
    session.close();
  }
}

/** Follows the stream for some parts by blocking reloads; gives the bytes of each part by its address. */
async function followed(ask: (requestPath: string) => Promise<Answer>): Promise<Map<string, Buffer>> {
  const parts = new Map<string, Buffer>();
  const { variants } = parseMultivariantPlaylist((await ask(path)).body.toString());
  const media = new URL(variants[0]!.uri, `https://localhost${path}`).pathname;
  let query = '';
  while (parts.size < 12) {
    const answer = await ask(media + query);
    expect(answer.status).toBe(200);
    const list = parseMediaPlaylist(answer.body.toString());
    const listed = [...list.segments.flatMap(segment => segment.parts), ...(list.openParts?.parts ?? [])];
    for (const { uri, gap } of listed) {
      if (gap || parts.has(uri)) continue;
      const part = await ask(new URL(uri, `https://localhost${media}`).pathname);
      expect(part.status).toBe(200);
      parts.set(uri, part.body);
    }
    query = `?_HLS_msn=${list.mediaSequence + list.segments.length}&_HLS_part=${list.openParts?.parts.length ?? 0}`;
  }
  return parts;
}

/** The certificate that a port shows, as PEM lines joined. */
function shownAt(port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
    resolve(socket.getPeerCertificate().raw.toString('base64'));
    socket.destroy();
  });
  socket.on('error', reject);
  return promise;
}

const rawOf = ({ cert }: SelfSigned) => cert.replace(/-----[A-Z ]+-----|\n/g, '');

describe('a stream over RTMPS', () => {
  test('plays over HTTP/2 and HTTP/1.1 with blocking reloads', async () => {
    const [one, two] = await Promise.all([followed(http1), http2(followed)]);
    const shared = [...one].filter(([uri]) => two.has(uri));
    expect(shared.length).toBeGreaterThan(5);
    for (const [uri, body] of shared) expect(two.get(uri)!.equals(body), uri).toBe(true);
  });

  test('has https and rtmps URLs', async () => {
    expect(server.app.publicUrl).toBe(`https://localhost:${server.app.httpsPort}`);
  });

  test('unblocks many reloads on one HTTP/2 connection with the next part', async () => {
    await http2(async ask => {
      const { variants } = parseMultivariantPlaylist((await ask(path)).body.toString());
      const media = new URL(variants[0]!.uri, `https://localhost${path}`).pathname;
      const list = parseMediaPlaylist((await ask(media)).body.toString());
      const query = `?_HLS_msn=${list.mediaSequence + list.segments.length}&_HLS_part=${list.openParts?.parts.length ?? 0}`;
      const answers = await Promise.all(Array.from({ length: 40 }, () => ask(media + query)));
      expect(new Set(answers.map(answer => `${answer.status} ${answer.body.toString()}`)).size).toBe(1);
      expect(answers[0]?.status).toBe(200);
    });
  });
});

test('a renewed certificate is used from then on, a broken one is not, and the publisher stays', async () => {
  const ports = [server.app.httpsPort!, server.app.rtmpsPort!];
  for (const port of ports) expect(await shownAt(port)).toBe(rawOf(first));
  await writeFile(join(folder, 'cert.pem'), 'broken');
  const renewed = makeSelfSigned('localhost');
  await writeFile(join(folder, 'key.pem'), renewed.key);
  await waitUntil(() => log.some(({ event }) => event === 'certificate-kept'));
  for (const port of ports) expect(await shownAt(port)).toBe(rawOf(first));
  await writeCertificate(renewed);
  for (const port of ports) {
    await waitUntil(async () => (await shownAt(port)) === rawOf(renewed), {
      everyMs: 100,
      what: `the new certificate at ${port}`,
    });
  }
  expect(publisher.stderr).not.toContain('Error');
  const list = async () => (await http1(path, renewed.cert)).status;
  expect(await list()).toBe(200);
});
