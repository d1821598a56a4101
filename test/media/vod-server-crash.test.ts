import { hash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { box } from '../../src/media/cmaf/box-writer.ts';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import { embeddedFfprobePath, ffmpegPath, runToEnd } from '../support/ffmpeg.ts';
import { makeTempDir, removeDir, testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { digestOfFile, filesIn, makeFilm, VideoServer, workersOn } from './vod-server-fixture.ts';

const chunkBytes = 5_242_880;
const filmSeconds = 5;
const framesPerSecond = 15;
let folder: string;
let film: Buffer;

beforeAll(async () => {
  folder = await makeTempDir();
  const path = join(folder, 'film.mp4');
  // Three chunks; 360 lines, so two qualities.
  await makeFilm(path, {
    seconds: filmSeconds,
    size: '360x360',
    fps: framesPerSecond,
    bytes: 2 * chunkBytes + 1_000_000,
  });
  // With a box of QuickTime, it is ffprobe that looks into the file: a process that can be met.
  film = Buffer.concat([await readFile(path), box('wide')]);
});
afterAll(async () => {
  await shared?.stop();
  await halting?.stop();
  await removeDir(folder);
});

async function start(dataDir: string, env: Record<string, string> = {}): Promise<VideoServer> {
  const server = await VideoServer.start(dataDir, { MILLRACE_ENCODE_PRESET: 'ultrafast', ...env });
  onTestFinished(() => server.stop());
  return server;
}

/** The server without images on a data folder: the one that the case before started again, while it runs. */
async function runningOn(
  data: string,
  server: VideoServer | undefined,
  env: Record<string, string> = {},
): Promise<VideoServer> {
  if (server?.process.child.exitCode === null && server.process.child.signalCode === null) return server;
  const started = await VideoServer.start(join(folder, data), {
    MILLRACE_ENCODE_PRESET: 'ultrafast',
    ...env,
  });
  started.leaveOutImages();
  return started;
}

let shared: VideoServer | undefined;
async function sharedServer(): Promise<VideoServer> {
  shared = await runningOn('data', shared);
  return shared;
}

const haltsNothing = 'no such argument';
let haltingPrograms: Record<string, string> | undefined;
let halting: VideoServer | undefined;
/** A server whose ffmpeg and ffprobe stand still when their arguments contain `when`: a busy machine may not see them run. */
async function haltingServer(when: string): Promise<VideoServer> {
  await writeFile(join(folder, 'halt'), when);
  haltingPrograms ??= {
    MILLRACE_FFMPEG_ISOLATION: 'off',
    MILLRACE_FFMPEG_PATH: await makeHaltingProgram('ffmpeg', ffmpegPath),
    MILLRACE_FFPROBE_PATH: await makeHaltingProgram('ffprobe', embeddedFfprobePath),
  };
  halting = await runningOn('halting', halting, haltingPrograms);
  return halting;
}

async function makeHaltingProgram(name: string, real: string): Promise<string> {
  const path = join(folder, name);
  const halt = `read -r when <'${join(folder, 'halt')}'\ncase "$*" in *"$when"*) kill -STOP $$;; esac`;
  await writeFile(path, `#!/bin/sh\n${halt}\nexec '${real}' "$@"\n`, { mode: 0o755 });
  return path;
}

const pieces = [0, 1, 2].map(index => {
  const from = index * chunkBytes;
  return { from, end: from + chunkBytes };
});

function piece(index: number): { bytes: Buffer; range: string } {
  const { from, end } = pieces[index]!;
  const bytes = film.subarray(from, end);
  return { bytes, range: `bytes ${from}-${from + bytes.length - 1}/${film.length}` };
}

async function sendPiece(server: VideoServer, videoId: string, index: number): Promise<number> {
  const { bytes, range } = piece(index);
  return await server.send(videoId, bytes, range);
}

/** Begins to send a piece and stops in the middle of it, with the connection open. */
async function sendHalf(server: VideoServer, videoId: string, index: number): Promise<void> {
  const { bytes, range } = piece(index);
  const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="film.mp4"\r\n\r\n';
  const sent = request(`${server.process.baseUrl}/videos/${videoId}/source`, {
    method: 'POST',
    auth: 'production-key-of-this-run-0123456789:',
    headers: {
      'content-type': 'multipart/form-data; boundary=b',
      'content-range': range,
      'content-length': head.length + bytes.length + '\r\n--b--\r\n'.length,
    },
  });
  sent.on('error', () => {});
  sent.write(head);
  sent.write(bytes.subarray(0, chunkBytes / 2));
  await waitUntil(async () => (await filesIn(server.dataDir, 'incoming')).length > 0, {
    what: 'the beginning of the piece on the disk',
  });
}

/** Waits for a state, and kills the server in it. */
async function killWhen(
  server: VideoServer,
  what: string,
  isThere: () => boolean,
  everyMs?: number,
): Promise<void> {
  await waitUntil(isThere, { everyMs, what });
  await server.kill();
}

type RenditionRow = { type: string; quality: string; status: string; file: string | null };

function renditions(server: VideoServer, videoId: string): RenditionRow[] {
  const text = 'SELECT type, quality, status, file FROM renditions WHERE video_id = ? ORDER BY type, quality';
  return server.read<RenditionRow>(text, videoId);
}

function codecRenditions(server: VideoServer, videoId: string): Omit<RenditionRow, 'type'>[] {
  const text = 'SELECT quality, status, file FROM codec_renditions WHERE video_id = ? ORDER BY quality';
  return server.read(text, videoId);
}

function statusOf(server: VideoServer, videoId: string, type: string, quality: string): string | undefined {
  return renditions(server, videoId).find(row => row.type === type && row.quality === quality)?.status;
}

/** Everything that must be so in the end, whatever happened before. */
async function expectWhole(server: VideoServer, videoId: string): Promise<void> {
  const { encoding } = await server.untilDone(videoId);
  expect(encoding.qualities.map(({ type, quality, progress }) => [type, quality, progress])).toEqual([
    ['hls', '240p', 100],
    ['hls', '360p', 100],
    ['mp4', '360p', 100],
  ]);
  expect(encoding).toMatchObject({ playable: true });
  expect(encoding.failure).toBeUndefined();

  const { dataDir } = server;
  expect(await digestOfFile(join(dataDir, 'vod', videoId, 'source'))).toBe(hash('sha256', film));
  // A folder that was done with goes while the video is already there, or with the sweep of the next start.
  for (const left of ['work', 'incoming', 'uploads'])
    await waitUntil(async () => (await filesIn(dataDir, left)).length === 0, {
      what: `an empty folder ${left}`,
    });
  const rows = [...renditions(server, videoId), ...codecRenditions(server, videoId)];
  const used = new Set(rows.map(({ file }) => dirname(file!)));
  const kept = (await filesIn(dataDir, 'vod', videoId)).filter(name => /^(hls|hevc)-\d+$/.test(name));
  expect(kept.filter(name => !used.has(name))).toEqual([]);
  expect(workersOn(dataDir)).toEqual([]);

  const events = server.read<{ payload: string }>(
    "SELECT payload FROM events WHERE type = 'video.encoding.quality.completed'",
  );
  const told = events
    .map(({ payload }) => JSON.parse(payload))
    .filter(payload => payload.videoId === videoId)
    .map(({ encoding: e, quality }) => `${e} ${quality}`);
  expect(told.toSorted()).toEqual(['hls 240p', 'hls 360p', 'mp4 360p']);

  await expectPlays(server, videoId);
}

async function expectPlays(server: VideoServer, videoId: string): Promise<void> {
  const download = join(await testTempDir(), 'download.mp4');
  const answer = await fetch(`${server.process.baseUrl}/vod/${videoId}/mp4/source.mp4`);
  expect(answer.status).toBe(200);
  await writeFile(download, Buffer.from(await answer.arrayBuffer()));
  const base = `${server.process.baseUrl}/vod/${videoId}/hls`;
  for (const address of [download, `${base}/360p/manifest.m3u8`, `${base}/240p/manifest.m3u8`]) {
    const frames = await runToEnd(embeddedFfprobePath, [
      ...['-v', 'error', '-select_streams', 'v', '-count_packets'],
      ...['-show_entries', 'stream=nb_read_packets', '-of', 'csv=p=0', address],
    ]);
    expect([address, Number.parseInt(frames, 10)]).toEqual([address, filmSeconds * framesPerSecond]);
  }
}

const hasProc = process.platform === 'linux';
if (!hasProc) console.log('skipped: processes are looked up in /proc, which only Linux has');

describe.skipIf(!hasProc)('a server that is killed', () => {
  test('while pieces come in keeps those that it answered, and right after the last one the whole file', async () => {
    const server = await sharedServer();
    const { videoId } = await server.create();
    expect(await sendPiece(server, videoId, 2)).toBe(201);
    await sendHalf(server, videoId, 1);
    await server.kill();

    const second = await sharedServer();
    expect((await second.status(videoId)).ingest).toMatchObject({
      status: 'uploading',
      receivedBytes: [{ from: 2 * chunkBytes, to: film.length - 1 }],
    });
    // The piece that was answered is sent once more, as by a client that did not hear the answer.
    for (const index of [2, 1, 0]) expect(await sendPiece(second, videoId, index)).toBe(201);
    await second.kill();
    await expectWhole(await sharedServer(), videoId);
  });

  test.each<[string, string | undefined, (server: VideoServer, videoId: string) => boolean]>([
    [
      'while it looks into the file',
      '-show_entries',
      server => workersOn(server.dataDir).some(({ words }) => words.includes('-show_entries')),
    ],
    [
      'while the first quality grows',
      undefined,
      (server, videoId) =>
        statusOf(server, videoId, 'hls', '240p') === 'encoding' && workersOn(server.dataDir).length > 0,
    ],
    [
      'while the other qualities are encoded',
      undefined,
      (server, videoId) =>
        statusOf(server, videoId, 'hls', '240p') === 'encoded' &&
        statusOf(server, videoId, 'hls', '360p') === 'encoding',
    ],
    [
      'while it puts the mp4 together',
      'faststart',
      (server, videoId) => statusOf(server, videoId, 'mp4', '360p') === 'encoding',
    ],
  ])('%s goes on and finishes', async (what, still, isThere) => {
    const server = still === undefined ? await sharedServer() : await haltingServer(still);
    const { dataDir } = server;
    const { videoId } = await server.create();
    expect(await server.send(videoId, film)).toBe(201);
    await killWhen(server, what, () => isThere(server, videoId), still === undefined ? 5 : undefined);
    const rows = renditions(server, videoId);
    expect(rows.some(({ status }) => status !== 'encoded') || rows.length === 0).toBe(true);
    await waitUntil(() => workersOn(dataDir).length === 0, {
      what: 'the end of its ffmpeg',
    });
    const again = still === undefined ? await sharedServer() : await haltingServer(haltsNothing);
    await expectWhole(again, videoId);
  });

  test('while it encodes to another codec goes on and finishes, but not while the video is in the trash', async () => {
    const dataDir = await testTempDir();
    const codecs = { MILLRACE_ENCODE_CODECS: 'hevc', MILLRACE_ENCODE_PRESET: 'veryfast' };
    const server = await start(dataDir, codecs);
    const { videoId } = await server.create();
    expect(await server.send(videoId, film)).toBe(201);
    const states = (of: VideoServer) => codecRenditions(of, videoId).map(({ status }) => status);
    const isEncoding = () => states(server).includes('encoding') && workersOn(dataDir).length > 0;
    await killWhen(server, 'encoding to HEVC', isEncoding, 5);
    expect(states(server)).toEqual(['encoding', 'encoding']);
    await waitUntil(() => workersOn(dataDir).length === 0, { what: 'the end of its ffmpeg' });

    const again = await start(dataDir, codecs);
    await waitUntil(() => workersOn(dataDir).some(({ nice }) => nice === 19), { what: 'the second attempt' });
    expect((await again.call('DELETE', `/videos/${videoId}`)).status).toBe(204);
    await waitUntil(() => workersOn(dataDir).length === 0, { what: 'the end of its ffmpeg in the trash' });
    expect(states(again)).not.toEqual(['encoded', 'encoded']);
    const restore = { body: { discarded: false } };
    expect((await again.call('PATCH', `/discarded/videos/${videoId}`, restore)).status).toBe(200);
    await waitUntil(() => again.read('SELECT id FROM jobs').length === 0, {
      what: 'the end of all jobs',
      timeoutMs: encodeTimeoutMs,
    });
    expect(states(again)).toEqual(['encoded', 'encoded']);
    await expectWhole(again, videoId);
    expect(await again.text(`/vod/${videoId}/hls/manifest.m3u8`)).toContain('hvc1');
  });

  test('while it extracts captions has them once', async () => {
    const subtitled = join(folder, 'subtitled.mp4');
    const text = join(folder, 'text.srt');
    await writeFile(text, '1\n00:00:01,000 --> 00:00:02,000\nHarbour\n');
    await runToEnd(ffmpegPath, [
      ...[
        '-v',
        'error',
        '-i',
        join(folder, 'film.mp4'),
        '-i',
        text,
        '-map',
        '0:v',
        '-map',
        '0:a',
        '-map',
        '1',
      ],
      ...['-c', 'copy', '-c:s', 'mov_text', '-metadata:s:s:0', 'language=eng', subtitled],
    ]);
    const server = await haltingServer('webvtt');
    const { dataDir } = server;
    const { videoId } = await server.create();
    expect(await server.send(videoId, await readFile(subtitled))).toBe(201);
    const isExtracting = () => workersOn(dataDir).some(({ words }) => words.includes('webvtt'));
    await killWhen(server, 'the captions being extracted', isExtracting);

    const again = await haltingServer(haltsNothing);
    await again.untilDone(videoId);
    const captions = (await (await again.call('GET', `/videos/${videoId}/captions`)).json()) as {
      data: { srclang: string }[];
    };
    expect(captions.data.map(({ srclang }) => srclang)).toEqual(['en']);
    expect(await again.text(`/vod/${videoId}/captions/en.vtt`)).toContain('Harbour');
    let left: readonly string[] = [];
    const isClean = async () => {
      const stored = await filesIn(dataDir, 'vod', videoId);
      left = [...(await filesIn(dataDir, 'work')), ...stored.filter(name => name.startsWith('captions-'))];
      return left.length === 1;
    };
    await waitUntil(isClean, { what: () => `one captions file of ${left.join()}` });
    expect(workersOn(dataDir)).toEqual([]);
  });
});
