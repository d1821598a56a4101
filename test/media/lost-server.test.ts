import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { fixture } from '../support/fixtures.ts';
import { pngImage } from '../support/images.ts';
import { findPostgres } from '../support/postgres.ts';
import { s3Missing, startS3 } from '../support/s3.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { postgresUrlOf } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';
import { VideoServer } from './vod-server-fixture.ts';

const missing = findPostgres() === undefined ? 'PostgreSQL is not installed' : s3Missing;
if (missing !== undefined) console.log(`Skipped: ${missing}`);

const mebibyte = 1024 ** 2;

function formWith(bytes: Buffer, name: string): FormData {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(bytes)]), name);
  return form;
}

/** Large enough for two chunks. */
function padded(mp4: Buffer): Buffer {
  const free = Buffer.alloc(6 * mebibyte);
  free.writeUInt32BE(free.length, 0);
  free.write('free', 4);
  return Buffer.concat([mp4, free]);
}

async function bytesOf(address: string, server: VideoServer): Promise<Buffer> {
  const { pathname, search } = new URL(address, server.process.baseUrl);
  const answer = await fetch(server.process.baseUrl + pathname + search);
  expect([pathname, answer.status]).toEqual([pathname, 200]);
  return Buffer.from(await answer.arrayBuffer());
}

async function namesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter(entry => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

test.skipIf(missing !== undefined)(
  'a server that is lost with its disk takes nothing along that it has acknowledged',
  async () => {
    const s3 = await startS3();
    onTestFinished(() => s3.stop());
    await s3.makeBucket('media');
    const env = {
      MILLRACE_DATABASE_URL: await postgresUrlOf(await testTempDir()),
      MILLRACE_STORAGE_URL: s3.url('media'),
    };
    const film = await readFile(await fixture('h264-aac'));
    const large = padded(film);
    const first = await VideoServer.start(await testTempDir(), env);
    onTestFinished(() => first.stop());
    const post = async (path: string, bytes: Buffer, name: string) => {
      const answer = await first.call('POST', path, { body: formWith(bytes, name) });
      expect([path, answer.ok]).toEqual([path, true]);
      return (await answer.json()) as Record<string, never>;
    };
    const image = pngImage(8, 8);
    const { watermarkId } = await post('/watermarks', image, 'mark.png');
    const whole = await first.create({ watermark: { id: watermarkId, top: '0px', left: '0px' } });
    const inChunks = await first.create();
    const created = await first.call('POST', '/players', { body: {} });
    const { playerId } = (await created.json()) as { playerId: string };
    await post(`/players/${playerId}/logo`, image, 'logo.png');
    await post(`/videos/${whole.videoId}/captions/en`, Buffer.from('WEBVTT\n'), 'captions.vtt');
    const chunk = large.subarray(0, 5 * mebibyte);
    expect(await first.send(inChunks.videoId, chunk, `bytes 0-${chunk.length - 1}/${large.length}`)).toBe(
      201,
    );
    expect(await first.send(whole.videoId, film)).toBe(201);
    const ended = once(first.process.child, 'exit');
    first.process.child.kill('SIGKILL');
    await ended;

    const second = await VideoServer.start(await testTempDir(), env);
    onTestFinished(() => second.stop());
    const rest = large.subarray(chunk.length);
    const range = `bytes ${chunk.length}-${large.length - 1}/${large.length}`;
    expect(await second.send(inChunks.videoId, rest, range)).toBe(201);
    for (const { videoId, assets } of [whole, inChunks]) {
      await second.until(
        videoId,
        ({ encoding: { qualities } }) =>
          qualities.length > 0 && qualities.every(quality => quality.status === 'encoded'),
        'all qualities',
      );
      expect((await bytesOf(assets.hls, second)).toString()).toContain('#EXTM3U');
      await waitUntil(async () => (await bytesOf(assets.thumbnail, second)).length > 1_000);
    }
    expect(await readFile(join(s3.folder, 'media', 'vod', inChunks.videoId, 'source'))).toEqual(large);
    expect(await bytesOf(`/player/${playerId}/logo.png`, second)).toEqual(image);
    const captions = `/vod/${whole.videoId}/captions/en.vtt`;
    expect((await bytesOf(captions, second)).toString()).toBe('WEBVTT\n');

    for (const { videoId } of [whole, inChunks]) {
      const removed = await second.call('DELETE', `/videos/${videoId}?permanently=true`);
      expect(removed.status).toBe(204);
    }
    await second.call('DELETE', `/players/${playerId}`);
    await second.call('DELETE', `/watermarks/${watermarkId}`);
    await waitUntil(async () => (await namesBelow(join(s3.folder, 'media'))).length === 0);
  },
  600_000,
);
