import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { encodeTimeoutMs } from '../support/deadlines.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { makeFilm, type Status, VideoServer, workersOn } from './vod-server-fixture.ts';

const within = { timeoutMs: encodeTimeoutMs };
/** The encoder of the next rendition runs for some seconds only. */
const often = { ...within, everyMs: 50 };

/** Encoders of a video. */
function encodersOf(server: VideoServer, videoId: string): number[] {
  return workersOn(server.dataDir)
    .filter(({ words }) => words.includes('libx264') && words.some(word => word.includes(videoId)))
    .map(({ pid }) => pid);
}

test('short videos do not wait behind a long one of another project, whose encoding stops in the trash', async () => {
  const folder = await testTempDir();
  const [longFilm, shortFilm] = [join(folder, 'long.mp4'), join(folder, 'short.mp4')];
  const film = { fps: 10, size: '360x360', hasSound: false };
  await makeFilm(longFilm, { ...film, seconds: 122 });
  await makeFilm(shortFilm, { ...film, seconds: 10 });
  const server = await VideoServer.start(await testTempDir(), { MILLRACE_ENCODE_JOBS: '1' });
  server.leaveOutImages();
  onTestFinished(() => server.stop());
  const { sandboxKey } = server.process;
  const authorization = `Basic ${Buffer.from(`${sandboxKey}:`).toString('base64')}`;
  const inSandbox = async (method: string, path: string, body?: FormData | string) =>
    (
      await fetch(server.process.baseUrl + path, {
        method,
        headers: { authorization },
        ...(body && { body }),
      })
    ).json();

  // The encoder of the long ladder stands still until it is discarded.
  const [first, second] = [await server.create(), await server.create()];
  await server.send(first.videoId, await readFile(longFilm));
  await waitUntil(
    async () => (await server.status(first.videoId)).encoding.qualities[0]?.status === 'encoded',
    often,
  );
  const ladder = await waitUntil(() => encodersOf(server, first.videoId)[0], often);
  process.kill(ladder, 'SIGSTOP');
  // Nor does the first quality of another long video of the same project take the place of short ones.
  await server.send(second.videoId, await readFile(longFilm));
  process.kill(await waitUntil(() => encodersOf(server, second.videoId)[0], often), 'SIGSTOP');
  const { videoId } = (await inSandbox('POST', '/videos', JSON.stringify({ title: 'Short' }))) as {
    videoId: string;
  };
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(await readFile(shortFilm))]), 'short.mp4');
  await inSandbox('POST', `/videos/${videoId}/source`, form);
  await waitUntil(
    async () => ((await inSandbox('GET', `/videos/${videoId}/status`)) as Status).encoding.playable,
    within,
  );
  expect(encodersOf(server, first.videoId)).toEqual([ladder]);

  for (const long of [first, second]) {
    expect((await server.call('DELETE', `/videos/${long.videoId}`)).status).toBe(204);
    await waitUntil(() => encodersOf(server, long.videoId).length === 0, within);
  }
  await waitUntil(() => server.read("SELECT id FROM jobs WHERE state = 'running'").length === 0, within);
  expect(encodersOf(server, first.videoId)).toEqual([]);
  expect(server.read('SELECT attempts FROM jobs WHERE subject_id = ?', first.videoId)).toEqual([
    { attempts: 0 },
  ]);
  const path = `/discarded/videos/${first.videoId}`;
  expect((await server.call('PATCH', path, { body: { discarded: false } })).status).toBe(200);
  await waitUntil(() => encodersOf(server, first.videoId).length > 0, within);
});
