import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FlvTag } from '../../src/media/flv/flv-tag.ts';
import { type ReplayOptions, recordTags, replay } from '../support/replay.ts';
import { RtmpClient } from '../support/rtmp-client.ts';
import { startServer, type TestServer } from '../support/start-server.ts';
import { isPublished, StreamMonitor } from '../support/stream-monitor.ts';

const seconds = 6;
/** Speed of replays whose timeline is in their timestamps alone. */
const speed = 4;
let server: TestServer;
/** One that waits for keyframes for a shorter time than a busy machine may need to send them. */
let impatient: TestServer;
let tags: FlvTag[];
let moreTags: FlvTag[];

beforeAll(async () => {
  [server, impatient, tags, moreTags] = await Promise.all([
    startServer({ 'live.segmentTarget': '1s' }),
    startServer({ 'live.segmentTarget': '1s', 'live.keyframeTimeout': '2s' }),
    recordTags({ seconds }),
    recordTags({ seconds: 5, size: '192x108', fps: 30 }),
  ]);
});

afterAll(async () => {
  await Promise.all([server?.stop(), impatient?.stop()]);
});

/** Replays tags to a stream of their own, and gives the viewer who followed it to its end. */
async function played(sent: readonly FlvTag[], options: ReplayOptions = {}): Promise<StreamMonitor> {
  const stream = await server.createStream();
  const client = await RtmpClient.connect({ port: server.app.rtmpPort });
  expect((await client.publish(stream.streamKey)).code).toBe('NetStream.Publish.Start');
  const watching = StreamMonitor.begin(`${server.baseUrl}/${stream.liveStreamId}.m3u8`);
  await replay(client, sent, options);
  await client.close();
  await server.api('PUT', `/live-streams/${stream.liveStreamId}/complete`);
  const watch = await watching;
  await watch.untilEnd();
  return watch;
}

/** Seconds of media in the list, gaps left out. */
function playedSeconds(watch: StreamMonitor): number {
  return [...watch.segments.values()]
    .filter(isPublished)
    .reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
}

/** The recording, and its picture once more behind it. */
function longerPicture(): FlvTag[] {
  const again = tags.filter(tag => isVideo(tag) && !isConfig(tag));
  return [...tags, ...again.map(tag => ({ ...tag, timestampMs: tag.timestampMs + seconds * 1000 }))];
}

const isVideo = (tag: FlvTag) => tag.kind === 'video';
const isConfig = (tag: FlvTag) => tag.kind !== 'script' && tag.body[1] === 0;
const isAfter = (tag: FlvTag, ms: number) => tag.timestampMs >= ms && !isConfig(tag) && tag.kind !== 'script';

// Runs concurrently; tests that take the longest begin first.
describe.concurrent('tracks', () => {
  test('audio that is announced but never comes: video plays without it after a while', async () => {
    const watch = await played(longerPicture().filter(tag => tag.kind !== 'audio' || isConfig(tag)));
    expect(await watch.brokenRules()).toEqual([]);
    expect((await watch.tracks()).map(({ kind }) => kind)).toEqual(['video']);
    expect(await watch.samples('video')).toHaveLength(2 * seconds * 25);
  });

  test('audio that stops: video continues, and after five seconds the playlist has no audio', async () => {
    const watch = await played(longerPicture().filter(tag => tag.kind !== 'audio' || tag.timestampMs < 2000));
    expect(await watch.brokenRules()).toEqual([]);
    expect(watch.inits.size).toBe(2);
    expect((await watch.tracks()).map(({ kind }) => kind)).toEqual(['video']);
    expect(await watch.samples('video')).toHaveLength(2 * seconds * 25);
  });

  test('another video size: a discontinuity, a new init section, no lost frame', async () => {
    const shifted = moreTags
      .filter(tag => tag.kind !== 'script')
      .map(tag => ({ ...tag, timestampMs: tag.timestampMs + seconds * 1000 }));
    const watch = await played([...tags, ...shifted], { speed });
    expect(await watch.brokenRules()).toEqual([]);
    expect(watch.inits.size).toBe(2);
    expect(await watch.samples('video')).toHaveLength(seconds * 25 + 5 * 30);
    expect((await watch.tracks())[0]).toMatchObject({ width: 192, height: 108 });
    const breaks = watch.latest!.segments.filter(segment => segment.discontinuity);
    expect(breaks).toHaveLength(1);
    expect(breaks[0]?.map?.uri).toBe([...watch.inits.keys()][1]);
  });

  test('audio that starts after three seconds: a discontinuity, then both tracks', async () => {
    const late = tags.filter(tag => tag.kind !== 'audio' || tag.timestampMs >= 3000 || isConfig(tag));
    // The configuration comes with the first frame, as with an encoder whose sound card wakes up late.
    const config = late.find(tag => tag.kind === 'audio' && isConfig(tag))!;
    const sent = late.filter(tag => tag !== config && tag.kind !== 'script');
    const firstAudio = sent.findIndex(tag => tag.kind === 'audio');
    sent.splice(firstAudio, 0, { ...config, timestampMs: sent[firstAudio]!.timestampMs });
    const watch = await played(sent);
    expect(await watch.brokenRules()).toEqual([]);
    expect(watch.inits.size).toBe(2);
    expect(await watch.samples('video')).toHaveLength(seconds * 25);
    expect((await watch.tracks()).map(({ kind }) => kind)).toEqual(['video', 'audio']);
  });

  test('audio that pauses for two seconds: no discontinuity', async () => {
    const watch = await played(
      tags.filter(
        tag => tag.kind !== 'audio' || tag.timestampMs < 2000 || tag.timestampMs > 4000 || isConfig(tag),
      ),
    );
    expect(await watch.brokenRules()).toEqual([]);
    expect(watch.inits.size).toBe(1);
    expect(await watch.samples('video')).toHaveLength(seconds * 25);
  });

  test('video that starts two seconds after audio: a discontinuity, then both tracks', async () => {
    const config = tags.find(tag => isVideo(tag) && isConfig(tag))!;
    const sent = tags.filter(
      tag => tag.kind === 'audio' || (isVideo(tag) && tag.timestampMs >= 2000 && tag !== config),
    );
    const firstVideo = sent.findIndex(isVideo);
    sent.splice(firstVideo, 0, { ...config, timestampMs: sent[firstVideo]!.timestampMs });
    const watch = await played(sent);
    expect(await watch.brokenRules()).toEqual([]);
    expect((await watch.tracks()).map(({ kind }) => kind)).toEqual(['video', 'audio']);
    expect(await watch.samples('video')).toHaveLength((seconds - 2) * 25);
  });
});

describe.concurrent('timestamps', () => {
  const middleMs = 4000;

  test.each<[string, (tag: FlvTag) => number]>([
    ['that begin at a week', tag => tag.timestampMs + 7 * 86_400_000],
    ['that wrap at 2^32', tag => (tag.timestampMs + 2 ** 32 - middleMs) % 2 ** 32],
    ['that jump an hour ahead', tag => tag.timestampMs + (isAfter(tag, middleMs) ? 3_600_000 : 0)],
    [
      'that start over from zero',
      tag => (isAfter(tag, middleMs) ? tag.timestampMs - middleMs : tag.timestampMs + 60_000),
    ],
    ['that go back by two seconds', tag => tag.timestampMs + 10_000 - (isAfter(tag, middleMs) ? 2000 : 0)],
  ])('%s: every frame is played in a valid playlist', async (_, timestampOf) => {
    const watch = await played(tags, { timestampOf, speed });
    expect(await watch.brokenRules()).toEqual([]);
    expect(await watch.samples('video')).toHaveLength(seconds * 25);
    expect(playedSeconds(watch)).toBeGreaterThan(seconds - 0.5);
    expect(playedSeconds(watch)).toBeLessThan(seconds + 0.7);
  });

  test('that run backwards: the broadcast continues in a valid playlist', async () => {
    const watch = await played(tags, { timestampOf: tag => 100_000 - tag.timestampMs, speed });
    expect(await watch.brokenRules()).toEqual([]);
    expect((await watch.samples('video')).length).toBeGreaterThan(100);
  });

  test('that are all the same: the broadcast continues in a valid playlist', async () => {
    const watch = await played(tags, { timestampOf: () => 5000, speed });
    expect(await watch.brokenRules()).toEqual([]);
  });

  test('of garbage: the server survives, and the playlist is valid', async () => {
    let state = 99;
    const random = () => {
      state = (state * 1103515245 + 12345) % 2 ** 31;
      return state;
    };
    const watch = await played(tags, {
      timestampOf: tag => (isConfig(tag) ? 0 : random() * 2),
      speed,
    });
    expect(await watch.brokenRules()).toEqual([]);
  });
});

describe.concurrent('keyframes', () => {
  async function refused(sent: readonly FlvTag[]): Promise<string> {
    const stream = await impatient.createStream();
    const client = await RtmpClient.connect({ port: impatient.app.rtmpPort });
    await client.publish(stream.streamKey);
    await replay(client, sent);
    return (await client.nextStatus()).description;
  }
  const isKeyframe = (tag: FlvTag) => isVideo(tag) && tag.body[0] === 0x17 && !isConfig(tag);

  test('that never come: the publisher gets the reason', async () => {
    const description = await refused(tags.filter(tag => !isKeyframe(tag)));
    expect(description).toBe('No keyframe arrived for 2 s. Set the keyframe interval to 2 s in the encoder.');
  });

  test('that stop: the publisher gets the reason, and the playlist ends', async () => {
    const description = await refused(tags.filter(tag => !isKeyframe(tag) || tag.timestampMs < 2000));
    expect(description).toContain('No keyframe arrived for 2 s.');
  });

  test('that never come in late video: the publisher gets the reason', async () => {
    const description = await refused(
      tags.filter(tag => !isVideo(tag) || (tag.timestampMs >= 3000 && !isKeyframe(tag))),
    );
    expect(description).toContain('No keyframe arrived for 2 s.');
  });

  test('and no media at all: the publisher gets the reason', async () => {
    expect(await refused([])).toBe('No audio or video arrived for 2 s. Check the sources in the encoder.');
  });
});
