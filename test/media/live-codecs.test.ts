import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLiveStream } from '../../scripts/server-process.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { ffmpegBuilds, ffmpegPath, publishTestPicture, runToEnd } from '../support/ffmpeg.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';

const encoders = await runToEnd(ffmpegPath, ['-hide_banner', '-v', 'error', '-encoders']);

/** Tells whether the publishing ffmpeg can encode this; says so where it cannot. */
function canEncode(encoder: string): boolean {
  const isThere = new RegExp(`^ [A-Z.]+ ${encoder} `, 'm').test(encoders);
  if (!isThere) console.log(`skipped: ${ffmpegPath} has no encoder ${encoder}`);
  return isThere;
}

const audioKinds = [
  ['MP3', 'libmp3lame', ['-ar', '44100']],
  ['PCM', 'pcm_s16le', ['-ar', '44100', '-ac', '2']],
  ['ADPCM', 'adpcm_swf', ['-ar', '22050', '-ac', '1']],
  ['Nellymoser', 'nellymoser', ['-ar', '22050', '-ac', '1']],
  ['Speex', 'libspeex', ['-ar', '16000', '-ac', '1']],
  ['A-law', 'pcm_alaw', ['-ar', '8000', '-ac', '1']],
  ['mu-law', 'pcm_mulaw', ['-ar', '8000', '-ac', '1']],
] as const;
const seconds = 5;

describe.concurrent.each(ffmpegBuilds)('packaged with the $name ffmpeg', ({ path }) => {
  let server: TestServer;

  beforeAll(async () => {
    // A broadcast ends when all that its publisher sent was read, which takes long on a busy machine.
    server = await startServer({ 'ffmpeg.path': path, 'live.stopGrace': '0' });
  });

  afterAll(async () => {
    await server?.stop();
  });

  for (const [name, encoder, args] of audioKinds) {
    test.skipIf(!canEncode(encoder))(`${name} audio becomes AAC`, async () => {
      const stream = await server.createStream();
      await using publisher = publishTestPicture({
        url: server.rtmpUrl(stream.streamKey),
        size: '160x90',
        gopSeconds: 1,
        seconds,
        extraArgs: ['-c:a', encoder, ...args],
      });
      const watches = await StreamMonitor.beginAll(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
      expect([...watches.keys()].toSorted()).toEqual(['audio', 'source']);
      expect(await publisher.exited, publisher.stderr).toMatchObject({ code: 0 });
      for (const watch of watches.values()) {
        await watch.untilEnd();
        expect(await watch.brokenRules()).toEqual([]);
      }
      const [{ codec, timescale } = { codec: '', timescale: 1 }] = await watches.get('audio')!.tracks();
      expect(codec).toBe('mp4a.40.2');
      const monitor = watches.get('audio')!;
      const audio = await monitor.samples('audio');
      // Excludes gaps: on a busy machine, the encoder starts later than the video, so the first segment is one.
      const gaps = [...monitor.segments.values()].filter(({ gap }) => gap);
      const gapSeconds = gaps.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
      const heardSeconds =
        gapSeconds + audio.reduce((sum, sample) => sum + sample.durationTicks, 0) / timescale;
      // Allows for what the two encoders hold back at the end, and the packets that raw audio is cut into.
      expect(Math.abs(heardSeconds - seconds)).toBeLessThan(0.3);
    });
  }
});

const enhancedKinds = [
  ['HEVC', 'libx265', ['-preset', 'ultrafast', '-x265-params', 'keyint=30:log-level=error']],
  ['AV1', 'libsvtav1', ['-preset', '12', '-g', '30']],
] as const;

test.concurrent.each(enhancedKinds)('%s over enhanced RTMP is transcoded', async (name, encoder, args) => {
  if (!canEncode(encoder)) return;
  await using server = await startServer();
  const stream = await createLiveStream(server.baseUrl, server.sandboxKey, name);
  await using publisher = publishTestPicture({
    url: server.rtmpUrl(stream.streamKey),
    size: '160x90',
    seconds,
    extraArgs: ['-c:v', encoder, ...args],
  });
  const watches = await StreamMonitor.beginAll(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
  expect(await publisher.exited, publisher.stderr).toMatchObject({ code: 0 });
  const watch = watches.get('source')!;
  await watch.untilEnd();
  expect(await watch.brokenRules()).toEqual([]);
  expect((await watch.tracks()).find(({ kind }) => kind === 'video')?.codec).toMatch(/^avc1/);
  expect(await watch.samples('video')).toHaveLength(seconds * 30);
});

describe.concurrent('what cannot be delivered', () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer();
  });

  afterAll(async () => {
    await server?.stop();
  });

  test.skipIf(!canEncode('flv'))('Sorenson H.263: the encoder reads why, and what to choose', async () => {
    const stream = await server.createStream();
    await using publisher = publishTestPicture({
      url: server.rtmpUrl(stream.streamKey),
      extraArgs: ['-c:v', 'flv1'],
    });
    expect((await publisher.exited).code).not.toBe(0);
    expect(publisher.stderr).toContain(
      'Sorenson H.263 video cannot be delivered over HLS. Choose H.264 in the encoder.',
    );
    const { broadcasting } = (await (
      await server.api('GET', `/live-streams/${stream.liveStreamId}`)
    ).json()) as {
      broadcasting: boolean;
    };
    expect(broadcasting).toBe(false);
  });

  const fourCc = (first: number, name: string) =>
    Buffer.concat([Buffer.of(first), Buffer.from(name), Buffer.alloc(20, 1)]);
  test.each([
    ['VP6', 'video', Buffer.from([0x14, 0, 1, 2, 3]), 'VP6 video cannot be delivered over HLS.'],
    ['H.263', 'video', Buffer.from([0x18, 0, 1, 2, 3]), 'H.263 video cannot be delivered over HLS.'],
    ['VP9 by FourCC', 'video', fourCc(0x90, 'vp09'), 'VP9 video cannot be delivered over HLS.'],
  ] as const)('%s: the encoder reads why', async (_, kind, body, description) => {
    expect(await refusalOf(kind, body)).toContain(description);
  });

  test('audio that changes from PCM to AAC continues after a discontinuity', async () => {
    const [aac, pcm] = await Promise.all([
      recordTags({ seconds: 6 }),
      recordTags({ seconds: 3, extraArgs: ['-c:a', 'pcm_s16le', '-ar', '44100', '-ac', '2'] }),
    ]);
    const isConfig = (tag: FlvTag) => tag.body[1] === 0;
    const tags = [
      ...aac.filter(tag => tag.kind === 'video'),
      ...pcm.filter(tag => tag.kind === 'audio' && tag.timestampMs < 3000),
      ...aac.filter(tag => tag.kind === 'audio' && tag.timestampMs >= 3000),
      // An encoder sends the configuration when it changes.
      ...aac.filter(tag => tag.kind === 'audio' && isConfig(tag)).map(tag => ({ ...tag, timestampMs: 3000 })),
    ].toSorted((a, b) => a.timestampMs - b.timestampMs || Number(isConfig(b)) - Number(isConfig(a)));
    const stream = await server.createStream();
    const client = await RtmpClient.connect({ port: server.app.rtmpPort });
    await client.publish(stream.streamKey);
    const sending = replay(client, tags, { speed: 2 });
    const watches = await StreamMonitor.beginAll(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
    await sending;
    await client.close();
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    for (const watch of watches.values()) {
      await watch.untilEnd();
      expect(await watch.brokenRules()).toEqual([]);
    }
    const watch = watches.get('audio')!;
    expect(new Set([...watch.segments.values()].map(segment => segment.mapUri)).size).toBe(2);
    const { timescale } = (await watch.tracks()).find(track => track.kind === 'audio')!;
    expect(timescale).toBe(48_000);
  });

  test('the server survives a garbage decoder configuration', async () => {
    const tags = await recordTags({ seconds: 3 });
    const stream = await server.createStream();
    const client = await RtmpClient.connect({ port: server.app.rtmpPort });
    await client.publish(stream.streamKey);
    const spoiled = tags.map(tag =>
      tag.kind === 'video' && tag.body[1] === 0
        ? { ...tag, body: Buffer.concat([tag.body.subarray(0, 5), Buffer.alloc(40, 0xee)]) }
        : tag,
    );
    await replay(client, spoiled, { speed: 4 });
    await client.close();
    expect((await fetch(`${server.baseUrl}/health/live`)).status).toBe(200);
  });

  async function refusalOf(kind: 'audio' | 'video', body: Buffer): Promise<string> {
    const stream = await server.createStream();
    const client = await RtmpClient.connect({ port: server.app.rtmpPort });
    expect((await client.publish(stream.streamKey)).code).toBe('NetStream.Publish.Start');
    client.sendTag(kind, 0, body);
    const status = await client.nextStatus();
    expect(status).toMatchObject({ level: 'error', code: 'NetStream.Publish.Rejected' });
    await client.closed();
    return status.description;
  }
});
