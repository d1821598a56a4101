import { describe, expect, test } from 'vitest';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { hasSrtFfmpeg } from '../support/srt-ingest.ts';
import { startServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';

describe.skipIf(!hasSrtFfmpeg)('SRT (skipped where ffmpeg has none)', () => {
  test('a broadcast over SRT is played, reports its transport, and refuses a second encoder', async () => {
    await using server = await startServer();
    const { streamKey, liveStreamId } = await server.createStream();
    const account = (await (await server.api('GET', '/account')).json()) as { ingest: { srt: string } };
    expect(account.ingest.srt).toBe(`srt://localhost:${server.app.srtPort}`);
    const url = `srt://127.0.0.1:${server.app.srtPort}?streamid=${streamKey}`;
    await using publisher = publishTestPicture({ url, extraArgs: ['-f', 'mpegts'] });
    const health = await waitUntil(async () => {
      const response = await server.api('GET', `/live-streams/${liveStreamId}/health`);
      const body = (await response.json()) as Record<string, unknown>;
      return body.state === 'live' && body.transport !== undefined && body;
    });
    expect(health).toMatchObject({
      protocol: 'srt',
      videoCodec: expect.stringMatching(/^avc1/),
      audioCodec: 'mp4a.40.2',
      transport: { packetsLost: 0, packetsRecovered: 0 },
    });
    await using second = publishTestPicture({ url, extraArgs: ['-f', 'mpegts'] });
    expect((await second.exited).code).not.toBe(0);
    await publisher.stop();
  });
});
