import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeVideoTag, type FlvTag } from '../../src/media/flv/flv-tag.ts';
import { ffmpegPath, ffprobePath, publishTestPicture, runToEnd, startPublisher } from '../support/ffmpeg.ts';
import { freePort } from '../support/free-port.ts';
import { goodKey, startIngest } from '../support/ingest-client.ts';
import { LossyProxy } from '../support/lossy-proxy.ts';
import { startRestreamSession } from '../support/restream-session.ts';
import { hasSrtFfmpeg, startSrt } from '../support/srt-ingest.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

let tags: readonly FlvTag[];
let folder: string;

beforeAll(async () => {
  folder = await makeTempDir();
  const ingest = await startIngest();
  await using publisher = publishTestPicture({
    url: `rtmp://127.0.0.1:${ingest.port}/s/${goodKey}`,
    seconds: 2,
  });
  await publisher.exited;
  await waitUntil(() => ingest.publishers[0]?.closeReasons.length === 1);
  tags = ingest.publishers[0]!.tags;
  await ingest.server.stop();
});

afterAll(() => removeDir(folder));

const passphrase = 'correct-horse';

describe('restreams over SRT', () => {
  test('arrive whole at a destination with a passphrase, on a network that loses packets', async () => {
    const there = await startSrt({ passphrase });
    const proxy = await LossyProxy.start({ target: there.port, seed: 3, lossPerMille: 30, delayMs: 20 });
    const url = `srt://127.0.0.1:${proxy.port}?latency=400&passphrase=${passphrase}`;
    await using session = startRestreamSession([{ url, key: goodKey }]);
    session.play(tags);
    await session.until('live', ({ state }) => state === 'live');
    const frames = await waitUntil(() => {
      const received = there.publishers[0]?.tags.filter(
        ({ kind, body }) => kind === 'video' && describeVideoTag(body)?.role !== 'config',
      );
      return received !== undefined && received.length >= 100 && received;
    });
    const sent = new Set(tags.filter(({ kind }) => kind === 'video').map(({ body }) => body.length));
    expect(frames.slice(0, 100).every(({ body }) => sent.has(body.length))).toBe(true);
    const steps = frames
      .slice(1, 59)
      .map(({ timestampMs }, index) => timestampMs - frames[index]!.timestampMs);
    expect(Math.max(...steps)).toBeLessThanOrEqual(34);
    expect(session.status()).toMatchObject({ retries: 0, serverUrl: `srt://127.0.0.1:${proxy.port}` });
    await session.end();
    await waitUntil(() => there.publishers[0]!.closeReasons.length === 1);
    expect(there.publishers[0]!.closeReasons).toEqual(['unpublished']);
    proxy.close();
    await there.server.stop();
  });

  test('say why a destination refuses them', async () => {
    const there = await startSrt({ passphrase });
    const at = `srt://127.0.0.1:${there.port}`;
    await using session = startRestreamSession([
      { url: at, key: goodKey },
      { url: `${at}?passphrase=wrong-battery`, key: goodKey },
      { url: `${at}?passphrase=${passphrase}`, key: 'unknown' },
    ]);
    session.play(tags);
    for (const [index, why] of [
      'one side uses a passphrase',
      'passphrase is wrong',
      'the stream key',
    ].entries()) {
      const { lastError } = await session.until('refused', ({ reason }) => reason === 'refused', index);
      expect(lastError).toContain(why);
    }
    await session.end();
    await there.server.stop();
  });

  test.skipIf(!hasSrtFfmpeg)(
    'are decoded by ffmpeg without errors (skipped where it has no SRT)',
    async () => {
      const port = await freePort();
      const file = join(folder, 'received.ts');
      const listener = `srt://127.0.0.1:${port}?mode=listener&passphrase=${passphrase}`;
      await using receiver = startPublisher(ffmpegPath, [
        '-i',
        listener,
        '-t',
        '3',
        '-c',
        'copy',
        '-y',
        file,
      ]);
      // The call is repeated until it listens.
      const url = `srt://127.0.0.1:${port}?passphrase=${passphrase}&pbkeylen=32`;
      await using session = startRestreamSession([{ url, key: 'any' }]);
      session.play(tags);
      await receiver.exited;
      await session.end();
      const streams = ['-show_entries', 'stream=codec_name', '-of', 'csv=p=0', file];
      expect(await runToEnd(ffprobePath, ['-v', 'error', ...streams])).toMatch(/h264\s+aac/);
      await runToEnd(ffmpegPath, ['-v', 'error', '-xerror', '-i', file, '-f', 'null', '-']);
    },
  );
});
