import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CreatedStream } from '../../scripts/server-process.ts';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { StreamMonitor } from '../support/stream-monitor.ts';
import { waitUntil } from '../support/wait-until.ts';

let server: TestServer;
let tags: FlvTag[];
let otherTags: FlvTag[];

beforeAll(async () => {
  [server, tags, otherTags] = await Promise.all([
    startServer({
      'live.segmentTarget': '1s',
      'live.stopGrace': '60s',
      'live.slate': 'last-frame',
      'recording.enabled': 'true',
      'rateLimit.reads': '20000',
      allowPrivateTargets: 'true',
    }),
    recordTags({ seconds: 4 }),
    recordTags({ seconds: 4, size: '192x108', fps: 30, extraArgs: ['-an'] }),
  ]);
});

afterAll(() => server?.stop());

async function get<Answer>(path: string): Promise<Answer> {
  const answer = await server.api('GET', path);
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}`);
  return (await answer.json()) as Answer;
}

interface Health {
  readonly state?: string;
  readonly droppedConnections?: number;
}

const healthOf = ({ liveStreamId }: CreatedStream) => get<Health>(`/live-streams/${liveStreamId}/health`);
const broadcastsOf = async ({ liveStreamId }: CreatedStream) =>
  (await get<{ data: Record<string, unknown>[] }>(`/live-streams/${liveStreamId}/broadcasts`)).data;

async function publishAll(stream: CreatedStream, sent: readonly FlvTag[]): Promise<RtmpClient> {
  const client = await RtmpClient.connect({ port: server.app.rtmpPort });
  expect((await client.publish(stream.streamKey)).code).toBe('NetStream.Publish.Start');
  await replay(client, sent);
  return client;
}

const stateOf = (stream: CreatedStream, state: string) =>
  waitUntil(async () => (await healthOf(stream)).state === state, {
    what: `${stream.liveStreamId} ${state}`,
  });

describe.concurrent('a publisher that comes back within the grace', () => {
  test.each<[string, (client: RtmpClient) => void, () => FlvTag[], number]>([
    ['after a reset', client => void client.socket.resetAndDestroy(), () => tags, 4 * 25 * 2],
    [
      'after a silent close, with another size and without sound',
      client => client.destroy(),
      () => otherTags,
      4 * 25 + 4 * 30,
    ],
  ])(
    '%s goes on in the same playlist, broadcast and recording, without a gap',
    async (_, drop, again, frames) => {
      const stream = await server.createStream();
      const watching = StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
      const first = await publishAll(stream, tags);
      drop(first);
      await stateOf(stream, 'waiting');
      const watch = await watching;
      const shown = watch.realSegments;
      await watch.until(({ realSegments }) => realSegments >= shown + 2, 'a slate');
      const second = await publishAll(stream, again());
      await stateOf(stream, 'live');
      await second.close();
      await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
      await watch.untilEnd();
      expect(await watch.brokenRules()).toEqual([]);
      expect(watch.gapsBehindFirstBreak).toEqual([]);
      expect((await watch.samples('video')).length).toBeGreaterThan(frames);
      const broadcasts = await broadcastsOf(stream);
      expect(broadcasts).toHaveLength(1);
      expect(broadcasts[0]).toMatchObject({ endReason: 'completed', droppedConnections: 1 });
      const videos = () =>
        get<{ data: { videoId: string }[] }>(`/videos?liveStreamId=${stream.liveStreamId}`);
      const recorded = await waitUntil(async () => {
        const { data } = await videos();
        return data.length > 0 && data;
      });
      expect(recorded).toHaveLength(1);
    },
  );

  test('after FCUnpublish continues the same playlist and broadcast, behind stills instead of a slate', async () => {
    const stream = await server.createStream();
    const watching = StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
    const first = await publishAll(stream, tags);
    first.sendCommand('FCUnpublish', '');
    await stateOf(stream, 'stopping');
    const watch = await watching;
    const newest = () => watch.latest!.segments.at(-1)!.uri;
    await watch.until(() => newest().startsWith('stopped-'), 'a still');
    const second = await publishAll(stream, tags);
    await stateOf(stream, 'live');
    await second.close();
    await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
    await watch.untilEnd();
    expect(await watch.brokenRules()).toEqual([]);
    expect(watch.gapsBehindFirstBreak).toEqual([]);
    expect(await watch.samples('video')).toHaveLength(4 * 25 * 2);
    expect(await broadcastsOf(stream)).toMatchObject([{ endReason: 'completed', droppedConnections: 0 }]);
  });

  test('has one restream and one recording, without the slate', async () => {
    const mirror = await server.createStream();
    const created = await server.api('POST', '/live-streams', {
      name: 'With a mirror',
      restreams: [
        {
          name: 'Mirror',
          serverUrl: `rtmp://127.0.0.1:${server.app.rtmpPort}/s`,
          streamKey: mirror.streamKey,
        },
      ],
    });
    const stream = (await created.json()) as CreatedStream;
    const first = await publishAll(stream, tags);
    await stateOf(mirror, 'live');
    first.destroy();
    await stateOf(stream, 'waiting');
    const second = await publishAll(stream, tags);
    await stateOf(stream, 'live');
    await second.close();
    expect(await healthOf(mirror)).toMatchObject({ state: 'live', droppedConnections: 0 });
    for (const { liveStreamId } of [stream, mirror]) {
      await server.api('PUT', `/live-streams/${liveStreamId}/complete`);
    }
    await waitUntil(async () => (await broadcastsOf(mirror))[0]?.state === 'ended');
    expect(await broadcastsOf(mirror)).toHaveLength(1);
    const [video] = await waitUntil(async () => {
      const { data } = await get<{ data: { videoId: string }[] }>(
        `/videos?liveStreamId=${stream.liveStreamId}`,
      );
      return data.length > 0 && data;
    });
    const { encoding } = await get<{ encoding: { metadata: { duration: number } } }>(
      `/videos/${video!.videoId}/status`,
    );
    expect(encoding.metadata.duration).toBe(8);
  });
});
