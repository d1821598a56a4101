import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createLiveStream } from '../../scripts/server-process.ts';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import { answerSpeech, answerSummary, type FakeModel, startFakeModel } from '../support/fake-model.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { fixture } from '../support/fixtures.ts';
import { findPostgres } from '../support/postgres.ts';
import { type S3Server, s3Missing, startS3 } from '../support/s3.ts';
import { makeSpeech } from '../support/speech.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { postgresUrlOf } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';
import { filesIn, makeFilm, type Status, VideoServer } from './vod-server-fixture.ts';

const missing = findPostgres() === undefined ? 'PostgreSQL is not installed' : s3Missing;
const test = it.skipIf(missing !== undefined);
let s3: S3Server | undefined;
let folder: string;
let bucket: string;
let model: FakeModel;
let stopModel: (() => void) | undefined;

beforeAll(async () => {
  folder = await makeTempDir();
  if (missing === undefined) s3 = await startS3();
  else console.log(`Skipped: ${missing}`);
  model = await startFakeModel(undefined, stop => {
    stopModel = stop;
  });
});
afterAll(async () => {
  await Promise.all(shared?.servers.map(server => server.stop()) ?? []);
  stopModel?.();
  await s3?.stop();
  await removeDir(folder);
});

type Environment = Record<string, string>;
type Pair = [VideoServer, VideoServer];

/** Settings of servers that share a new database and a new bucket, which is looked into from now on. */
async function commonEnv(): Promise<Environment> {
  bucket = `bucket-${randomUUID()}`;
  await s3!.makeBucket(bucket);
  return {
    MILLRACE_DATABASE_URL: await postgresUrlOf(await makeSubfolder()),
    MILLRACE_STORAGE_URL: s3!.url(bucket),
    MILLRACE_VIDEOS_RESTORE: '0',
    MILLRACE_ENCODE_PRESET: 'faster',
  };
}

const makeSubfolder = () => mkdtemp(join(folder, 'data-'));

/** Two servers that end with the test. */
async function startPair(own: Environment): Promise<Pair> {
  const env = { ...(await commonEnv()), ...own };
  const start = async () => {
    const server = await VideoServer.start(await makeSubfolder(), env);
    onTestFinished(() => server.stop());
    return server;
  };
  return [await start(), await start()];
}

let shared:
  | { readonly servers: VideoServer[]; readonly env: Environment; readonly bucket: string }
  | undefined;
const modelKeys = ['key-of-the-first', 'key-of-the-second'] as const;

/** Two servers with data folders of their own. Another one stands in for one that the case before killed. */
async function sharedServers(): Promise<Pair> {
  if (shared === undefined) {
    const env = {
      ...(await commonEnv()),
      MILLRACE_TRANSCRIPTION_URL: model.url,
      MILLRACE_TRANSCRIPTION_CHUNK: '10s',
      MILLRACE_SUMMARY_MODEL: 'small',
      MILLRACE_LIVE_SEGMENT_TARGET: '1s',
      MILLRACE_LIVE_RECONNECT_GRACE: '3s',
    };
    shared = { servers: [], env, bucket };
  }
  const { servers, env } = shared;
  bucket = shared.bucket;
  for (const [at, key] of modelKeys.entries()) {
    const { child } = servers[at]?.process ?? {};
    if (child?.exitCode === null && child.signalCode === null) continue;
    servers[at] = await VideoServer.start(await makeSubfolder(), {
      ...env,
      MILLRACE_TRANSCRIPTION_API_KEY: key,
    });
  }
  return servers as Pair;
}

/** Files that finished jobs leave on a disk belong to the cache. */
async function untilNothingLeft({ dataDir }: VideoServer): Promise<void> {
  let left: readonly string[] = [];
  const isEmpty = async () => {
    left = await filesIn(dataDir, 'vod');
    return left.length === 0;
  };
  await waitUntil(isEmpty, { what: () => `the end of ${left.join()}` });
}

function storedNames(videoId: string): string[] {
  try {
    return readdirSync(join(s3!.folder, bucket, 'vod', videoId)).toSorted();
  } catch {
    return [];
  }
}

async function bytesOf(server: VideoServer, path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(new URL(path, server.process.baseUrl), { headers });
  return {
    status: answer.status,
    bytes: Buffer.from(await answer.arrayBuffer()),
    etag: answer.headers.get('etag'),
  };
}

/** Fetches the segments of all renditions, by path. */
async function mediaOf(server: VideoServer, videoId: string): Promise<Map<string, Buffer>> {
  const base = `/vod/${videoId}/hls`;
  const entriesOf = async (path: string) =>
    String(await server.text(path))
      .split('\n')
      .flatMap(line => /^(?!#)(\S+)$/.exec(line)?.[1] ?? /URI="([^"]+)"/.exec(line)?.[1] ?? []);
  const media = new Map<string, Buffer>();
  for (const playlist of new Set(await entriesOf(`${base}/manifest.m3u8`))) {
    const rendition = playlist.split('/')[0]!;
    for (const name of await entriesOf(`${base}/${playlist}`)) {
      const { status, bytes } = await bytesOf(server, `${base}/${rendition}/${name}`);
      expect([name, status]).toEqual([name, 200]);
      media.set(`${rendition}/${name}`, bytes);
    }
  }
  return media;
}

function foldersOf(dataDir: string, videoId = ''): string[] {
  try {
    return readdirSync(join(dataDir, 'vod', videoId));
  } catch {
    return [];
  }
}

const isDone = ({ encoding: { qualities, additionalQualities = [] } }: Status) =>
  qualities.length > 0 && [...qualities, ...additionalQualities].every(({ status }) => status === 'encoded');

describe('servers that share a database and a bucket', () => {
  test('play, give and remove what was uploaded to another one', async () => {
    const [first, second] = await sharedServers();
    const { videoId } = await first.create();
    expect(await first.send(videoId, await readFile(await fixture('h264-aac')))).toBe(201);
    await second.until(videoId, isDone, 'all qualities');
    const media = await mediaOf(first, videoId);
    expect(media.size).toBeGreaterThan(3);
    expect(await mediaOf(second, videoId)).toEqual(media);

    const mp4 = `/vod/${videoId}/mp4/source.mp4`;
    const [whole, other] = [await bytesOf(first, mp4), await bytesOf(second, mp4)];
    expect([whole.status, whole.bytes.length > 1000]).toEqual([200, true]);
    expect(other).toEqual(whole);
    const part = await bytesOf(second, mp4, { range: 'bytes=100-299' });
    expect([part.status, part.bytes]).toEqual([206, whole.bytes.subarray(100, 300)]);
    const thumbnail = `/vod/${videoId}/thumbnail.jpg?placeholder=none`;
    for (const server of [first, second]) {
      await waitUntil(async () => (await bytesOf(server, thumbnail)).status === 200, {
        what: 'the thumbnail',
      });
      await waitUntil(async () => (await bytesOf(server, `/vod/${videoId}/storyboard.jpg`)).status === 200);
    }
    expect(storedNames(videoId)).toContain('source');

    expect((await second.call('DELETE', `/videos/${videoId}`)).status).toBe(204);
    await waitUntil(() => storedNames(videoId).length === 0, { what: 'no file in the bucket' });
    expect((await bytesOf(first, mp4)).status).toBe(404);
  });

  test('encode what must be encoded once, and show it everywhere when it is finished', async () => {
    const [first, second] = await sharedServers();
    const path = join(folder, 'film.mp4');
    await makeFilm(path, { seconds: 6, size: '360x360', fps: 15 });
    const { videoId } = await first.create();
    expect(await first.send(videoId, await readFile(path))).toBe(201);
    await second.until(videoId, isDone, 'all qualities');
    expect(await mediaOf(second, videoId)).toEqual(await mediaOf(first, videoId));
    const folders = () => storedNames(videoId).filter(name => name.startsWith('hls-'));
    await waitUntil(() => folders().length === 2, { what: () => `two of ${folders().join()}` });
    for (const server of [first, second]) await untilNothingLeft(server);
  });

  test.each([
    ['', '360x360', '360p.mp4', /^hls-/, ''],
    [' to another codec', '240x240', '240p.mp4', /^hevc-/, 'hevc'],
  ])('finish what a server was encoding%s that is killed', async (_, size, file, folderName, codecs) => {
    const servers =
      codecs === '' ? await sharedServers() : await startPair({ MILLRACE_ENCODE_CODECS: codecs });
    const path = join(folder, `${size}.mp4`);
    await makeFilm(path, { seconds: 16, size, fps: 15 });
    const { videoId } = await servers[0]!.create();
    expect(await servers[0]!.send(videoId, await readFile(path))).toBe(201);
    const isEncoding = ({ dataDir }: VideoServer) =>
      foldersOf(dataDir, videoId).some(
        name => folderName.test(name) && existsSync(join(dataDir, 'vod', videoId, name, file)),
      );
    const encoder = await waitUntil(() => servers.find(isEncoding), {
      what: 'the highest quality being encoded',
      timeoutMs: encodeTimeoutMs,
      everyMs: 20,
    });
    await encoder.kill();
    const other = servers.find(server => server !== encoder)!;
    await other.until(videoId, isDone, 'all qualities');
    const media = await mediaOf(other, videoId);
    expect(media.size).toBeGreaterThan(12);
    expect([...media.keys()].some(name => name.startsWith('hevc-'))).toBe(codecs !== '');
    expect(storedNames(videoId).filter(name => folderName.test(name))).toHaveLength(codecs === '' ? 2 : 1);
    await untilNothingLeft(other);
  });

  test('continue captions and the summary that a server was generating that is killed', async () => {
    const speak = answerSpeech('en');
    // The second request hangs until its server is gone.
    model.answer = (call, response, count) => {
      if (call.path.endsWith('/chat/completions')) answerSummary(summary)(call, response, count);
      else if (count !== 2) speak(call, response, count);
    };
    const summary = JSON.stringify({ abstract: 'Boats leave.', takeaways: [] });
    const servers = await sharedServers();
    const { videoId } = await servers[0].create({ transcript: true, transcriptSummary: true });
    const { speech } = await makeSpeech();
    expect(await servers[0].send(videoId, speech)).toBe(201);
    const held = await waitUntil(() => model.calls[1], {
      what: 'the second chunk',
      timeoutMs: encodeTimeoutMs,
    });
    const at = modelKeys.findIndex(key => held.headers.authorization === `Bearer ${key}`);
    await servers[at]!.kill();
    const other = servers[1 - at]!;
    await other.until(videoId, ({ transcript }) => transcript?.status === 'completed', 'captions');
    const chunks = model.calls.filter(({ path }) => path.endsWith('/audio/transcriptions'));
    // Only the chunk that had no answer is sent again.
    expect(chunks[2]!.file.equals(held.file)).toBe(true);
    expect(new Set(chunks.map(({ file }) => file.toString('base64'))).size).toBe(chunks.length - 1);
    expect(storedNames(videoId).filter(name => name.startsWith('captions-en-'))).toHaveLength(1);
    const captions = String(await other.text(`/vod/${videoId}/captions/en.vtt`));
    expect(captions.match(/Boats leave the harbour/g)).toHaveLength(chunks.length - 1);
    const summaries = await waitUntil(
      async () => {
        const { data } = (await (await other.call('GET', `/summaries?videoId=${videoId}`)).json()) as {
          data: { summaryId: string; sourceStatus: string }[];
        };
        return data[0]?.sourceStatus === 'completed' ? data : undefined;
      },
      { what: 'the summary', timeoutMs: encodeTimeoutMs },
    );
    const source = await other.call('GET', `/summaries/${summaries[0]!.summaryId}/source`);
    expect(await source.json()).toEqual({ abstract: 'Boats leave.', takeaways: [] });
    await untilNothingLeft(other);
  });

  test('make a video of what a server recorded that is killed, and lose its last segments at most', async () => {
    const [first, second] = await sharedServers();
    const stream = await createLiveStream(first.process.baseUrl, first.key, 'Cut off');
    await using publisher = publishTestPicture({
      url: `rtmp://127.0.0.1:${first.process.rtmpPort}/s/${stream.streamKey}`,
      size: '160x90',
      fps: 15,
      gopSeconds: 1,
    });
    const isRecording = (videoId: string) =>
      foldersOf(first.dataDir, videoId).some(name => name.startsWith('recording-'));
    const recording = await waitUntil(() => foldersOf(first.dataDir).find(isRecording), {
      what: 'a recording',
    });
    const piecesOf = () => storedNames(`${recording}/recording-1.mp4.pieces`).length;
    await waitUntil(() => piecesOf() >= 3, { what: 'uploaded pieces' });
    await first.kill();
    await publisher.exited;

    const { encoding } = await second.until(recording, ({ encoding: { playable } }) => playable, 'the video');
    expect(encoding.failure).toBeUndefined();
    const durations = [
      ...String(await second.text(`/vod/${recording}/hls/240p/manifest.m3u8`)).matchAll(
        /^#EXTINF:([\d.]+)/gm,
      ),
    ];
    // A piece has four seconds at least.
    expect(durations.reduce((sum, [, seconds]) => sum + Number(seconds), 0)).toBeGreaterThan(11);
    await waitUntil(() => piecesOf() === 0, { what: 'no pieces' });
  });
});
