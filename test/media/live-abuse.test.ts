import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CreatedStream, createLiveStream } from '../../scripts/server-process.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { recordTags } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Server that a holder of a valid key attacks, and somebody else's stream on it. */
let server: TestServer;
let tags: FlvTag[];
let bystander: CreatedStream;
let bystanderPublisher: ReturnType<typeof publishTestPicture>;
let watch: StreamMonitor;

beforeAll(async () => {
  [server, tags] = await Promise.all([
    startServer({ 'live.segmentTarget': '1s', 'live.packager': 'ffmpeg' }),
    recordTags({ seconds: 3, gopSeconds: 1 }),
  ]);
  bystander = await createLiveStream(server.baseUrl, server.productionKey, 'Another one');
  bystanderPublisher = publishTestPicture({
    url: server.rtmpUrl(bystander.streamKey),
    size: '160x90',
    gopSeconds: 1,
  });
  watch = await StreamMonitor.begin(`${server.baseUrl}/${bystander.liveStreamId}.m3u8`);
});

afterAll(async () => {
  await watch?.stop();
  await bystanderPublisher?.[Symbol.asyncDispose]();
  await server?.stop();
});

/** Publishes as fast as the server reads, until it closes the connection; the most packagers that ran meanwhile. */
async function flood(
  send: (client: RtmpClient, round: number) => void,
  to?: CreatedStream,
): Promise<{ processes: number; told: string }> {
  const stream = to ?? (await server.createStream());
  const client = await RtmpClient.connect({ port: server.app.rtmpPort, app: 's' });
  await client.publish(stream.streamKey);
  let processes = 0;
  let round = 0;
  await waitUntil(
    () => {
      if (!client.isClosed && client.socket.writableLength < 1024 * 1024) send(client, round++);
      processes = Math.max(processes, server.app.ffmpegProcesses());
      return client.isClosed;
    },
    { everyMs: 1, what: 'the connection is closed' },
  );
  const texts = client.messages.map(message => message.payload.toString('latin1'));
  return { processes, told: texts.join(' ') };
}

const isVideo = (tag: FlvTag) => tag.kind === 'video';
const config = () => tags.find(tag => isVideo(tag) && tag.body[1] === 0)!.body;
const keyframe = () => tags.find(tag => isVideo(tag) && tag.body[0] === 0x17 && tag.body[1] === 1)!.body;

describe('the holder of a key who', () => {
  test('changes the configuration at each frame is disconnected after few packagers', async () => {
    const other = Buffer.concat([config(), Buffer.from([0])]);
    const { processes, told } = await flood((client, round) => {
      client.sendTag('video', round * 40, round % 2 === 0 ? config() : other);
      client.sendTag('video', round * 40, keyframe());
    });
    expect(told).toContain('changed its settings or reconnected too often');
    expect(processes).toBeLessThanOrEqual(22);
    await waitUntil(() => server.app.ffmpegProcesses() === 1);
  });

  test('sends huge frames of one timestamp is disconnected before they fill the memory', async () => {
    const before = process.memoryUsage().rss;
    const huge = Buffer.concat([keyframe(), Buffer.alloc(4 * 1024 * 1024, 1)]);
    let most = 0;
    const { told } = await flood((client, round) => {
      if (round === 0) client.sendTag('video', 0, config());
      client.sendTag('video', 0, huge);
      most = Math.max(most, process.memoryUsage().rss - before);
    });
    expect(told).toContain('Choose a lower bitrate');
    expect(most).toBeLessThan(400 * 1024 * 1024);
  });

  test('sends video of 8192x8192 to a sandbox stream gets the reason before a process starts', async () => {
    // The bystander's packager alone.
    await waitUntil(() => server.app.ffmpegProcesses() === 1);
    const stream = await createLiveStream(server.baseUrl, server.sandboxKey, 'Large');
    // Record as x264 writes it.
    const record = '0142c03effe1001a6742c03eda0020000401b011000003000100000300020f08042a01000468ce0fc8';
    const large = Buffer.concat([config().subarray(0, 5), Buffer.from(record, 'hex')]);
    const { processes, told } = await flood((client, round) => {
      client.sendTag('video', round * 40, large);
      client.sendTag('video', round * 40, keyframe());
    }, stream);
    expect(told).toContain('NetStream.Publish.Rejected');
    expect(told).toContain('The resolution 8192x8192 is too high: this server accepts up to 9437184 pixels.');
    expect(processes).toBe(1);
  });

  test('starts and stops as fast as possible is told to wait', async () => {
    const stream = await server.createStream();
    let refused = '';
    for (let attempt = 0; attempt < 40 && refused === ''; attempt += 1) {
      const client = await RtmpClient.connect({ port: server.app.rtmpPort, app: 's' });
      const status = await client.publish(stream.streamKey);
      if (status.level === 'error') refused = status.description;
      await client.close();
      await waitUntil(() => client.isClosed);
    }
    expect(refused).toBe('Too many connections in a short time. Try again in 30 seconds.');
  });

  test('does all that does not disturb another stream', async () => {
    const seen = watch.realSegments;
    await watch.until(({ realSegments }) => realSegments >= seen + 2, 'two more segments');
    await watch.stop();
    expect(await watch.brokenRules()).toEqual([]);
  });
});
