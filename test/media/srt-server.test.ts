import { describe, expect, onTestFinished, test } from 'vitest';
import { startReceiver } from '../service/webhook-fixture.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { type LogLine, recordingLogger } from '../support/ingest-client.ts';
import { LossyProxy } from '../support/lossy-proxy.ts';
import { hasSrtFfmpeg } from '../support/srt-ingest.ts';
import { startServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';

/** The first bytes of the packet that ends a connection. */
const shutdown = 0x8005;

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

  test('a publish hook gets further fields of the stream ID, and refuses the caller', async () => {
    await using server = await startServer({ allowPrivateTargets: 'true' });
    const { streamKey, liveStreamId } = await server.createStream();
    const receiver = await startReceiver();
    receiver.answer = (_, response) => void response.writeHead(403).end('Not today.');
    await server.api('PUT', '/hooks/publish', { url: receiver.url });
    const streamId = encodeURIComponent(`#!::r=${streamKey},m=publish,u=crew,token=a b`);
    const url = `srt://127.0.0.1:${server.app.srtPort}?streamid=${streamId}`;
    await using refused = publishTestPicture({ url, extraArgs: ['-f', 'mpegts'] });
    expect((await refused.exited).code).not.toBe(0);
    expect(receiver.hooks.map(({ json }) => json)).toEqual([
      {
        type: 'hook.publish',
        emittedAt: expect.any(String),
        liveStreamId,
        protocol: 'srt',
        remoteAddress: '127.0.0.1',
        encoder: '',
        query: 'u=crew&token=a+b',
      },
    ]);
    receiver.answer = (_, response) => void response.end();
    await using allowed = publishTestPicture({ url, extraArgs: ['-f', 'mpegts'] });
    await waitUntil(async () => {
      const response = await server.api('GET', `/live-streams/${liveStreamId}/health`);
      return ((await response.json()) as { state?: string }).state === 'live';
    });
    await allowed.stop();
  });

  test('an encoder whose stop is lost publishes again at once', async () => {
    const log: LogLine[] = [];
    await using server = await startServer({}, { log: recordingLogger(log) });
    const { streamKey } = await server.createStream();
    const proxy = await LossyProxy.start({
      target: server.app.srtPort!,
      seed: 1,
      lossPerMille: 0,
      delayMs: 0,
      loses: datagram => datagram.readUInt16BE() === shutdown,
    });
    onTestFinished(() => proxy.close());
    const url = `srt://127.0.0.1:${proxy.port}?streamid=${streamKey}`;
    const events = (event: string) => log.filter(line => line.event === event);
    const isLive = () => events('broadcast-state').at(-1)?.data?.state === 'live';
    await using first = publishTestPicture({ url, extraArgs: ['-f', 'mpegts'] });
    await waitUntil(isLive, { what: 'a broadcast' });
    await first.stop();
    expect(proxy.dropped).toBe(1);
    await using second = publishTestPicture({ url, extraArgs: ['-f', 'mpegts'] });
    await waitUntil(() => events('publisher-opened').length === 2, { what: () => second.stderr });
    await waitUntil(() => isLive() && events('packaging-started').length === 2, {
      what: () => second.stderr,
    });
    expect(events('publish-refused')).toEqual([]);
    expect(events('broadcast-opened')).toHaveLength(1);
  });
});
