import { readdirSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createLiveStream, startServerProcess } from '../../scripts/server-process.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readRows } from './vod-server-fixture.ts';

/** Title of a recording of a live stream with this name. */
const titleOf = (name: string): unknown =>
  expect.stringMatching(new RegExp(`^${name}, \\d{1,2} [A-Z][a-z]+ 20\\d\\d, \\d\\d:\\d\\d UTC$`));

const env = { MILLRACE_LIVE_SEGMENT_TARGET: '1s', MILLRACE_ENCODE_PRESET: 'ultrafast' };

/** Seconds of media of the publisher that a live playlist lists. */
async function listedSeconds(multivariantUrl: string): Promise<number> {
  const text = async (url: string) => await (await fetch(url)).text();
  const [uri] = (await text(multivariantUrl))
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'));
  const lines = (await text(new URL(uri!, multivariantUrl).href)).split('\n');
  let seconds = 0;
  let parts = 0;
  for (const [index, line] of lines.entries()) {
    if (line.startsWith('#EXT-X-PART:')) {
      parts += Number(/DURATION=([\d.]+)/.exec(line)?.[1]);
    }
    if (!line.startsWith('#EXTINF:')) continue;
    // Resets the count: the parts stand before their segment.
    parts = 0;
    if (lines[index + 1]?.startsWith('segment-')) seconds += Number.parseFloat(line.slice('#EXTINF:'.length));
  }
  return seconds + parts;
}

describe.concurrent('a server in a broadcast', () => {
  test('that is killed makes a video of it at its next start, and has lost less than its last second', async ({
    onTestFinished,
  }) => {
    const dataDir = await makeTempDir();
    onTestFinished(() => removeDir(dataDir));
    const server = await startServerProcess({ dataDir, env });
    const stream = await createLiveStream(server.baseUrl, server.productionKey, 'Cut off');
    await using publisher = publishTestPicture({
      url: `rtmp://127.0.0.1:${server.rtmpPort}/s/${stream.streamKey}`,
      size: '160x90',
      gopSeconds: 1,
    });
    const playlist = `${server.baseUrl}/${stream.liveStreamId}.m3u8`;
    await waitUntil(async () => (await listedSeconds(playlist)) > 4, { what: 'four seconds' });
    const listed = await listedSeconds(playlist);
    await waitUntil(async () => (await listedSeconds(playlist)) > listed + 1, { what: 'another second' });
    server.child.kill('SIGKILL');
    await server.exited;
    await publisher.exited;
    const [videoId] = readdirSync(join(dataDir, 'vod'));
    const recorded = (await stat(join(dataDir, 'vod', videoId!, 'recording-1.mp4'))).size;

    const again = await startServerProcess({ dataDir, env });
    try {
      const [video] = await waitUntil(
        () => {
          const rows = readRows<{
            id: string;
            title: string;
            bytes: number;
            facts: string;
            is_playable: number;
          }>(
            dataDir,
            `SELECT v.id, v.title, s.bytes, e.is_playable, r.facts FROM videos v
             JOIN video_sources s ON s.video_id = v.id JOIN video_encodings e ON e.video_id = v.id
             JOIN renditions r ON r.video_id = v.id AND r.type = 'hls'`,
          );
          return rows.length > 0 && rows;
        },
        { what: 'the video' },
      );
      expect(video).toMatchObject({ id: videoId, title: titleOf('Cut off'), is_playable: 1 });
      expect(video!.bytes).toBeLessThanOrEqual(recorded);
      const { durationSeconds } = JSON.parse(video!.facts) as { durationSeconds: number };
      expect(durationSeconds).toBeGreaterThan(listed);
      expect((await fetch(`${again.baseUrl}/vod/${videoId}/hls/manifest.m3u8`)).status).toBe(200);
      expect(readRows(dataDir, 'SELECT * FROM recordings')).toEqual([]);
      await waitUntil(() => again.lines.some(line => line.includes('"recording-recovered"')));
    } finally {
      await again.stop();
    }
  });

  test('that is stopped makes a video of it before it ends', async ({ onTestFinished }) => {
    const dataDir = await makeTempDir();
    onTestFinished(() => removeDir(dataDir));
    const server = await startServerProcess({ dataDir, env });
    const stream = await createLiveStream(server.baseUrl, server.productionKey, 'Stopped');
    await using publisher = publishTestPicture({
      url: `rtmp://127.0.0.1:${server.rtmpPort}/s/${stream.streamKey}`,
      size: '160x90',
      gopSeconds: 1,
    });
    const playlist = `${server.baseUrl}/${stream.liveStreamId}.m3u8`;
    await waitUntil(async () => (await listedSeconds(playlist)) > 1, { what: 'a second' });
    await server.stop();
    await publisher.exited;
    expect(readRows(dataDir, 'SELECT is_playable FROM video_encodings')).toEqual([{ is_playable: 1 }]);
    expect(readRows(dataDir, 'SELECT * FROM recordings')).toEqual([]);
  });
});
