import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { compositionOffsetMs, describeVideoTag } from '../../src/media/flv/flv-tag.ts';
import { publishTestPicture } from '../support/ffmpeg.ts';
import { goodKey, type IngestFixture, startIngest } from '../support/ingest-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { waitUntil } from '../support/wait-until.ts';

interface Shown {
  readonly name: string;
  readonly state: string;
  readonly rendition?: string;
  readonly retries?: number;
  readonly lastError?: string;
}

let server: TestServer;
let ingest: IngestFixture;

beforeAll(async () => {
  const bitsPerSecond = 200_000;
  [server, ingest] = await Promise.all([
    startServer(
      { 'live.qualities': 'ladder', allowPrivateTargets: 'true' },
      { liveSteps: () => [{ name: '240p', width: 160, height: 90, bitsPerSecond }] },
    ),
    startIngest({ handshakeTimeoutMs: 60_000, idleTimeoutMs: 60_000 }),
  ]);
});
afterAll(async () => {
  await Promise.all([server?.stop(), ingest?.server.stop()]);
});

const destination = (streamKey: string, rendition: string) => {
  return { name: streamKey, serverUrl: `rtmp://127.0.0.1:${ingest.port}/live`, streamKey, rendition };
};
const tagsOf = (streamKey: string) =>
  ingest.publishers.filter(({ request }) => request.streamKey === streamKey).at(-1)?.tags ?? [];
const frames = (tags: readonly FlvTag[], kind: FlvTag['kind']) =>
  tags.filter(tag => tag.kind === kind && tag.body[1] === 1 && tag.body.length > 5);
const bytesOf = (tags: readonly FlvTag[]) =>
  frames(tags, 'video').reduce((sum, { body }) => sum + body.length, 0);
/** Times at which the keyframes are presented. */
const keyframesMs = (tags: readonly FlvTag[]) =>
  frames(tags, 'video')
    .filter(({ body }) => describeVideoTag(body)?.role === 'keyframe')
    .map(({ timestampMs, body }) => timestampMs + compositionOffsetMs(body));

describe('a destination of an encoded rendition', () => {
  test('gets its video in sync with the audio of the source, and the source where there is no such rendition', async () => {
    const [source, encoded] = [`${goodKey}-source`, `${goodKey}-encoded`];
    const stream = await server.createStream();
    const path = `/live-streams/${stream.liveStreamId}`;
    const change = (restreams: readonly object[]) => server.api('PATCH', path, { restreams });
    const shown = async () => {
      const answer = await server.api('GET', `${path}/restreams`);
      return ((await answer.json()) as { data: Shown[] }).data;
    };
    await change([destination(source, 'source'), destination(encoded, '240p')]);
    await using _publisher = publishTestPicture({
      url: server.rtmpUrl(stream.streamKey),
      size: '320x180',
      gopSeconds: 1,
      extraArgs: ['-tune', 'film', '-bf', '2'],
    });
    await waitUntil(() => keyframesMs(tagsOf(encoded)).length > 4, { what: 'encoded keyframes' });
    const [sent, received] = [tagsOf(source), tagsOf(encoded)];
    expect(received.find(({ kind }) => kind === 'video')!.body).not.toEqual(
      sent.find(({ kind }) => kind === 'video')!.body,
    );
    expect(bytesOf(received) / frames(received, 'video').length).toBeLessThan(
      bytesOf(sent) / frames(sent, 'video').length,
    );
    const audio = frames(received, 'audio');
    const shifts = audio.map(({ timestampMs, body }) => {
      const same = frames(sent, 'audio').find(tag => tag.body.equals(body));
      return same === undefined ? undefined : same.timestampMs - timestampMs;
    });
    expect(shifts.filter(shift => shift === undefined).length).toBeLessThan(3);
    const known = shifts.filter(shift => shift !== undefined);
    expect(Math.max(...known) - Math.min(...known)).toBeLessThanOrEqual(2);
    const sourceKeyframesMs = keyframesMs(sent);
    for (const keyframeMs of keyframesMs(received)) {
      const offMs = sourceKeyframesMs.map(atMs => Math.abs(atMs - keyframeMs - known[0]!));
      expect(Math.min(...offMs)).toBeLessThanOrEqual(3);
    }
    expect(await shown()).toMatchObject([
      { state: 'live', rendition: 'source', retries: 0 },
      { state: 'live', rendition: '240p', retries: 0 },
    ]);

    const other = `${goodKey}-missing`;
    await change([destination(source, 'source'), destination(other, '720p')]);
    await waitUntil(() => keyframesMs(tagsOf(other)).length > 1, { what: 'the source' });
    expect(tagsOf(other).find(({ kind }) => kind === 'video')!.body).toEqual(
      tagsOf(source).find(({ kind }) => kind === 'video')!.body,
    );
    expect(await shown()).toMatchObject([{ retries: 0 }, { state: 'live', rendition: 'source' }]);
    await server.api('PUT', `${path}/complete`);
  });
});
