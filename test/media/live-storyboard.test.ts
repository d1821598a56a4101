import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { parseMediaPlaylist } from '../../scripts/parse-media-playlist.ts';
import { createLiveStream, startServerProcess } from '../../scripts/server-process.ts';
import { sheetColumns, slotMs, slotsPerSheet } from '../../src/shared/limits/live-storyboard.ts';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import { ffmpegPath, publishTestPicture } from '../support/ffmpeg.ts';
import { ffmpegsOf, hasProc, isAlive } from '../support/processes.ts';
import { startServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

const tile = { width: 160, height: 90 };
/** The picture gets so much brighter, of 255. */
const lumaPerSecond = 3;
/** Keyframes are a second apart, and so much is lost in coding. */
const toleranceLuma = 6;
const other = { headers: { 'user-agent': 'another browser' } };

/** Brightness in the middle of each frame. */
async function lumasOf(image: Buffer): Promise<number[]> {
  const folder = await makeTempDir();
  try {
    const path = join(folder, 'sheet.jpg');
    await writeFile(path, image);
    const output = ['-f', 'rawvideo', '-pix_fmt', 'gray', '-'];
    const { stdout } = await promisify(execFile)(ffmpegPath, ['-v', 'error', '-i', path, ...output], {
      encoding: 'buffer',
      maxBuffer: 16 * 1024 * 1024,
    });
    const width = tile.width * sheetColumns;
    return Array.from({ length: slotsPerSheet }, (_, index) => {
      const x = ((index % sheetColumns) + 0.5) * tile.width;
      const y = (Math.floor(index / sheetColumns) + 0.5) * tile.height;
      return stdout[y * width + x]!;
    });
  } finally {
    await removeDir(folder);
  }
}

it('shows the picture of each moment that viewers can rewind to, to those who may watch', async () => {
  await using server = await startServer({ 'live.segmentTarget': '1s' });
  const stream = await server.createStream('Behind a token');
  const { liveStreamId } = stream;
  await server.api('PATCH', `/live-streams/${liveStreamId}`, { public: false });
  const answer = await server.api('GET', `/live-streams/${liveStreamId}`);
  const { assets } = (await answer.json()) as { assets: { hls: string } };
  const hls = server.baseUrl + new URL(assets.hls).pathname;
  const brighter = ['-vf', `geq=lum=30+${lumaPerSecond}*T:cb=128:cr=128`, '-an'];
  await using _ = publishTestPicture({
    url: server.rtmpUrl(stream.streamKey),
    size: '320x180',
    fps: 10,
    gopSeconds: 1,
    extraArgs: brighter,
  });
  const mediaUrl = await waitUntil(
    async () => {
      const response = await fetch(hls);
      const line = response.ok && (await response.text()).trim().split('\n').at(-1);
      return line ? new URL(line, hls).href : undefined;
    },
    { what: 'the playlist' },
  );
  const endMs = async () => {
    const { segments } = parseMediaPlaylist(await (await fetch(mediaUrl)).text());
    const last = segments.at(-1)!;
    return last.programDateTimeMs! + last.durationSeconds * 1000;
  };
  const firstMs = await endMs();
  const newest = await waitUntil(
    async () => {
      const slot = Math.floor((await endMs()) / slotMs) - 1;
      return slot >= Math.ceil(firstMs / slotMs) + 2 ? slot : undefined;
    },
    { what: 'three slots', timeoutMs: encodeTimeoutMs, everyMs: 500 },
  );
  const folder = new URL('../storyboard/', mediaUrl).href;
  const addressOf = (slot: number) => {
    const sheet = Math.floor(slot / slotsPerSheet);
    return `${folder}${sheet}-${(slot % slotsPerSheet) + 1}.jpg`;
  };
  const sheetWith = async (slot: number) => {
    const response = await fetch(addressOf(slot));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('image/jpeg');
    expect(response.headers.get('cache-control')).toMatch(/^private, max-age=\d+$/);
    return Buffer.from(await response.arrayBuffer());
  };
  const lumas = await Promise.all(
    [newest - 2, newest - 1, newest].map(
      async slot => (await lumasOf(await sheetWith(slot)))[slot % slotsPerSheet]!,
    ),
  );
  const [first = 0, second = 0, third = 0] = lumas;
  for (const step of [second - first, third - second])
    expect(Math.abs(step - (lumaPerSecond * slotMs) / 1000)).toBeLessThanOrEqual(toleranceLuma);

  const statusOf = async (url: string, init?: RequestInit) => (await fetch(url, init)).status;
  const address = addressOf(newest);
  expect(await statusOf(address.replace(/avh-[\w-]+\//, ''), other)).toBe(404);
  expect(await statusOf(address.replace(/\/private\/[^/]+/, '').replace(/avh-[\w-]+\//, ''))).toBe(404);
  expect(await statusOf(addressOf(newest + 100))).toBe(404);
  expect(await statusOf(addressOf(newest - 1000))).toBe(404);
  expect(await statusOf(address.replace(/-\d+\.jpg/, '-21.jpg'))).toBe(404);
  expect(await statusOf(address)).toBe(200);
  await server.api('DELETE', `/live-streams/${liveStreamId}`);
  await waitUntil(async () => (await statusOf(address)) === 404, { what: 'the end of the storyboard' });
});

it('has no frames of a broadcast without video', async () => {
  await using server = await startServer({ 'live.segmentTarget': '1s' });
  const stream = await server.createStream('Night radio');
  await using _ = publishTestPicture({ url: server.rtmpUrl(stream.streamKey), extraArgs: ['-vn'] });
  const master = `${server.baseUrl}/${stream.liveStreamId}.m3u8`;
  const playlist = await waitUntil(
    async () => {
      const response = await fetch(master);
      return response.ok ? (await response.text()).trim().split('\n').at(-1) : undefined;
    },
    { what: 'the playlist' },
  );
  const mediaUrl = new URL(playlist!, master).href;
  const sheet = await waitUntil(
    async () => {
      const { segments } = parseMediaPlaylist(await (await fetch(mediaUrl)).text());
      const endMs = segments.at(-1)!.programDateTimeMs! + segments.at(-1)!.durationSeconds * 1000;
      const isPast = segments[0]!.programDateTimeMs! < Math.floor(endMs / slotMs) * slotMs;
      const slot = Math.floor(endMs / slotMs) - 1;
      return isPast ? `${Math.floor(slot / slotsPerSheet)}-${(slot % slotsPerSheet) + 1}` : undefined;
    },
    { what: 'a slot', everyMs: 500 },
  );
  expect((await fetch(new URL(`../storyboard/${sheet}.jpg`, mediaUrl))).status).toBe(404);
});

it.skipIf(!hasProc)('leaves nothing behind when the server is killed while it makes frames', async () => {
  const dataDir = await makeTempDir();
  const server = await startServerProcess({ dataDir, env: { MILLRACE_LIVE_SEGMENT_TARGET: '1s' } });
  onTestFinished(async () => {
    await server.stop();
    await removeDir(dataDir);
  });
  const stream = await createLiveStream(server.baseUrl, server.productionKey, 'a stream');
  const url = `rtmp://127.0.0.1:${server.rtmpPort}/s/${stream.streamKey}`;
  await using _ = publishTestPicture({ url, size: '160x90', gopSeconds: 1 });
  const master = `${server.baseUrl}/${stream.liveStreamId}.m3u8`;
  const folder = await waitUntil(
    async () => {
      const response = await fetch(master);
      const line = response.ok && (await response.text()).trim().split('\n').at(-1);
      return line ? new URL('../storyboard/', new URL(line, master)).href : undefined;
    },
    { what: 'the playlist' },
  );
  const encoder = await waitUntil(
    () => {
      const slot = Math.floor(Date.now() / slotMs) - 1;
      const name = `${Math.floor(slot / slotsPerSheet)}-${(slot % slotsPerSheet) + 1}.jpg`;
      void fetch(`${folder}${name}`).catch(() => {});
      const found = ffmpegsOf(server.child.pid!).find(({ args }) =>
        args.some(text => text.includes('tile=')),
      );
      if (found !== undefined) server.child.kill('SIGKILL');
      return found;
    },
    { what: 'the encoder of frames', everyMs: 5 },
  );
  await server.exited;
  await waitUntil(() => !isAlive(encoder.pid), { what: 'the end of the encoder' });
  const files = await readdir(dataDir, { recursive: true });
  expect(files.filter(name => /\.(jpe?g|tmp|part)$|storyboard/.test(name))).toEqual([]);
});
