import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createLiveStream } from '../../scripts/server-process.ts';
import { runCommand, startCommand } from '../support/backup-command.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { makeFilm, VideoServer } from './vod-server-fixture.ts';

const chunkBytes = 5_242_880;
const env = { MILLRACE_LIVE_SEGMENT_TARGET: '1s', MILLRACE_ENCODE_PRESET: 'ultrafast' };

async function start(dataDir: string): Promise<VideoServer> {
  const server = await VideoServer.start(dataDir, env);
  onTestFinished(() => server.stop());
  return server;
}

/** The first line of a playlist that is an address, made absolute. */
async function firstUri(url: string): Promise<string> {
  const lines = (await (await fetch(url)).text()).split('\n');
  return new URL(lines.find(line => line !== '' && !line.startsWith('#'))!, url).href;
}

/** The first segment of a video. */
async function firstSegment(server: VideoServer, videoId: string): Promise<Buffer> {
  const playlist = await firstUri(`${server.process.baseUrl}/vod/${videoId}/hls/manifest.m3u8`);
  const answer = await fetch(await firstUri(playlist));
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

async function recordingOf(server: VideoServer, liveStreamId: string): Promise<string | undefined> {
  const answer = await server.call('GET', `/videos?liveStreamId=${liveStreamId}`);
  const { data } = (await answer.json()) as { data: { videoId: string }[] };
  return data[0]?.videoId;
}

test('a server is backed up in the middle of an upload, an encode and a broadcast, and goes on with all of it where it is restored', async () => {
  const folder = await testTempDir();
  const film = join(folder, 'film.mp4');
  await makeFilm(film, { seconds: 2, size: '320x180', codec: 'libx264', bytes: chunkBytes + 1_000_000 });
  const long = join(folder, 'long.mp4');
  await makeFilm(long, { seconds: 40, size: '360x360' });
  const bytes = await readFile(film);
  const server = await start(join(folder, 'data'));

  const done = (await server.create()).videoId;
  expect(await server.send(done, bytes)).toBe(201);
  await server.untilDone(done);
  const segment = await firstSegment(server, done);
  const uploaded = (await server.create()).videoId;
  const range = (from: number, end: number) => `bytes ${from}-${end - 1}/${bytes.length}`;
  expect(await server.send(uploaded, bytes.subarray(0, chunkBytes), range(0, chunkBytes))).toBe(201);
  const stream = await createLiveStream(server.process.baseUrl, server.key, 'Harbour');
  await using publisher = publishTestPicture({
    url: `rtmp://127.0.0.1:${server.process.rtmpPort}/s/${stream.streamKey}`,
    size: '160x90',
    gopSeconds: 1,
  });
  const videos = () => server.read('SELECT video_id FROM recordings');
  await waitUntil(() => videos().length === 1, {
    what: () => `a recording; ${publisher.stderr.slice(-500)}`,
  });
  const playlist = `${server.process.baseUrl}/${stream.liveStreamId}.m3u8`;
  await waitUntil(async () => (await (await fetch(await firstUri(playlist))).text()).includes('#EXTINF'));
  const encoded = (await server.create()).videoId;
  expect(await server.send(encoded, await readFile(long))).toBe(201);
  const isEncoding = ({ encoding }: Awaited<ReturnType<VideoServer['status']>>) =>
    encoding.qualities.some(({ status }) => status === 'encoding');
  await server.until(encoded, isEncoding, 'an encode');

  // The backup waits in the middle: all goes on meanwhile.
  const backup = startCommand('backup', ['-', `--dataDir=${server.dataDir}`], { isPaused: true });
  await waitUntil(() => backup.child.stdout!.readableLength > 0);
  const firstLive = await (await fetch(await firstUri(playlist))).text();
  await waitUntil(async () => (await (await fetch(await firstUri(playlist))).text()) !== firstLive, {
    what: 'a broadcast that goes on',
  });
  expect((await server.call('DELETE', `/videos/${done}`)).status).toBe(204);
  backup.child.stdout!.resume();
  const { code, stdout, stderr } = await backup.ended;
  expect([code, stderr]).toEqual([0, expect.not.stringMatching('Warning')]);
  await publisher.stop();
  await server.stop();

  const archive = join(folder, 'backup.tar');
  await writeFile(archive, stdout);
  const dataDir = join(folder, 'restored');
  const restored = await runCommand('restore', archive, `--dataDir=${dataDir}`);
  expect([restored.code, restored.stderr]).toEqual([0, '']);
  const again = await start(dataDir);
  expect((await firstSegment(again, done)).equals(segment)).toBe(true);
  const { ingest } = await again.status(uploaded);
  expect(ingest).toMatchObject({ status: 'uploading', receivedBytes: [{ from: 0, to: chunkBytes - 1 }] });
  expect(await again.send(uploaded, bytes.subarray(chunkBytes), range(chunkBytes, bytes.length))).toBe(201);
  const shown = (await (await again.call('GET', `/live-streams/${stream.liveStreamId}`)).json()) as object;
  expect(shown).toMatchObject({ streamKey: stream.streamKey, broadcasting: false });
  const recording = await waitUntil(() => recordingOf(again, stream.liveStreamId), { what: 'the recording' });
  await again.until(recording, ({ encoding }) => encoding.playable, 'a recording that plays');
  expect((await firstSegment(again, recording)).length).toBeGreaterThan(1_000);
  for (const id of [uploaded, encoded]) await again.untilDone(id);
  expect((await firstSegment(again, uploaded)).equals(segment)).toBe(true);
  expect(await firstSegment(again, encoded)).not.toHaveLength(0);
});
