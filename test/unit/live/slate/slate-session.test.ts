import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BroadcastRegistryOptions } from '../../../../src/live/broadcast/broadcast-registry-options.ts';
import type { BroadcastSubscriber } from '../../../../src/live/broadcast/broadcast-subscriber.ts';
import type { SlateMedia, SlateSource } from '../../../../src/live/slate/slate-source.ts';
import type { MediaSample } from '../../../../src/media/samples/media-sample.ts';
import {
  avc,
  liveSettings,
  publish,
  startFakeBroadcasts,
  videoTag,
} from '../../../support/fake-broadcasts.ts';
import { mediaOf, samples } from '../../../support/media-samples.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const slateFrame = mediaOf(videoTag(0, Buffer.concat([avc.keyframe(), Buffer.from('slate')])));

/** A slate that is made when the test says, and each try to make one. */
function slateOfTest() {
  const tries: { make(): void; fail(): void; readonly signal: AbortSignal }[] = [];
  const source: SlateSource = {
    showsLastFrame: false,
    make: (shape, _, signal) => {
      const { promise, resolve, reject } = Promise.withResolvers<SlateMedia>();
      const media: SlateMedia = {
        shape,
        declared: undefined,
        audio: undefined,
        videoConfig: samples.videoConfig('avc1', Buffer.of(9)),
        frames: [slateFrame as MediaSample],
      };
      tries.push({ make: () => resolve(media), fail: () => reject(new Error('no slate')), signal });
      return promise;
    },
  };
  return { source, tries };
}

/** A room of which the publisher has been seen, and is lost. */
async function lostPublisher(change: Partial<BroadcastRegistryOptions> = {}) {
  const slate = slateOfTest();
  const told: string[] = [];
  const follower: BroadcastSubscriber = {
    name: 'of the test',
    media: ({ media, isSlate }) => {
      const role = media.type === 'config' ? 'config' : media.isKeyframe ? 'keyframe' : 'frame';
      told.push(`${isSlate ? 'slate' : 'publisher'} ${role}`);
    },
    ended: () => {},
  };
  const room = startFakeBroadcasts({ slate: slate.source, ...change });
  room.live.subscribe(() => [follower]);
  const publisher = await publish(room.live);
  publisher.send(videoTag(0, avc.config()), videoTag(0, avc.keyframe()));
  await vi.advanceTimersByTimeAsync(1000);
  room.packagers[0]!.begin();
  room.packagers[0]!.give(0, 75);
  expect(room.live.state('li1').live).toBe(true);
  publisher.close('lost');
  await vi.advanceTimersByTimeAsync(0);
  told.length = 0;
  return { ...room, ...slate, told };
}

async function shown() {
  const room = await lostPublisher();
  room.tries.at(-1)!.make();
  await vi.advanceTimersByTimeAsync(500);
  expect(room.packagers).toHaveLength(2);
  room.packagers[1]!.begin();
  room.packagers[1]!.give(4000, 25);
  return room;
}

const statsOf = ({ live }: Awaited<ReturnType<typeof shown>>) => live.stats(() => true)[0];

describe('a slate', () => {
  test('goes the way of a publisher, marked, and the broadcast waits on', async () => {
    const room = await shown();
    expect(room.told.slice(0, 2)).toEqual(['slate config', 'slate keyframe']);
    expect(new Set(room.told)).toEqual(new Set(['slate config', 'slate keyframe']));
    expect(statsOf(room)).toMatchObject({ state: 'waiting', droppedConnections: 1, bitrateBitsPerSecond: 0 });
    expect(room.live.isBroadcasting('li1')).toBe(true);
  });

  test('goes on until the keyframe of the publisher that came back, and no longer', async () => {
    const room = await shown();
    const publisher = await publish(room.live);
    publisher.send(videoTag(70_000, avc.config(2)), videoTag(70_000, avc.frame()));
    room.told.length = 0;
    await vi.advanceTimersByTimeAsync(400);
    expect(new Set(room.told)).toEqual(new Set(['slate keyframe']));
    expect(statsOf(room)).toMatchObject({ state: 'waiting' });
    room.told.length = 0;
    publisher.send(videoTag(70_400, avc.keyframe()), videoTag(70_440, avc.frame()));
    await vi.advanceTimersByTimeAsync(500);
    expect(room.told).toEqual(['publisher config', 'publisher keyframe', 'publisher frame']);
    expect(room.packagers[1]!.isOver).toBe(true);
    room.packagers[2]!.begin();
    room.packagers[2]!.give(6000, 25);
    expect(statsOf(room)).toMatchObject({ state: 'live', broadcastId: 'br1' });
  });

  test('is not shown for a publisher that stopped, and ends with one that came back and stopped', async () => {
    const room = await shown();
    const publisher = await publish(room.live);
    publisher.close('unpublished');
    await vi.advanceTimersByTimeAsync(0);
    expect(room.packagers[1]!.isOver).toBe(true);
    room.told.length = 0;
    await vi.advanceTimersByTimeAsync(4000);
    expect(statsOf(room)).toMatchObject({ state: 'stopping' });
    expect([room.told, room.tries.length]).toEqual([[], 2]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(room.ends).toEqual(['publisher-stopped']);
  });

  test('that is not made yet when the publisher is back is given up', async () => {
    const room = await lostPublisher();
    const publisher = await publish(room.live);
    expect(room.tries.at(-1)!.signal.aborted).toBe(true);
    room.tries.at(-1)!.make();
    publisher.send(videoTag(0, avc.config()), videoTag(0, avc.keyframe()));
    await vi.advanceTimersByTimeAsync(500);
    expect(room.told).toEqual(['publisher config', 'publisher keyframe']);
  });

  test.each<[string, (room: Awaited<ReturnType<typeof shown>>) => void]>([
    ['the grace', () => {}],
    ['completion', ({ live }) => live.complete('li1')],
    ['deletion', ({ live }) => void live.remove('li1')],
  ])('ends with %s', async (_, act) => {
    const room = await shown();
    act(room);
    await vi.advanceTimersByTimeAsync(liveSettings.reconnectGraceMs);
    expect(room.packagers[1]!.isOver).toBe(true);
    expect(room.ends).toHaveLength(1);
    // The prepared slate is not needed any more.
    expect(room.tries[0]!.signal.aborted).toBe(true);
    room.told.length = 0;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(room.told).toEqual([]);
  });

  test.each<[string, (room: Awaited<ReturnType<typeof shown>>) => void]>([
    ['whose packager dies', ({ packagers }) => packagers[1]!.die()],
    ['that could not be made', ({ tries }) => tries.at(-1)!.fail()],
  ])('%s leaves gaps, and the broadcast waits on', async (what, fail) => {
    const room = what === 'whose packager dies' ? await shown() : await lostPublisher();
    fail(room);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(room.ends).toEqual([]);
    const broadcast = room.live.current('li1');
    const answer = await broadcast?.mediaPlaylist(
      'source',
      new URLSearchParams(),
      new AbortController().signal,
    );
    expect(answer?.status === 200 && answer.text.plain.toString()).toMatch(/EXT-X-GAP[\s\S]*EXT-X-GAP/);
    const publisher = await publish(room.live);
    publisher.send(videoTag(0, avc.config()), videoTag(0, avc.keyframe()));
    await vi.advanceTimersByTimeAsync(1000);
    room.packagers.at(-1)!.begin();
    room.packagers.at(-1)!.give(8000, 25);
    expect(statsOf(room)).toMatchObject({ state: 'live' });
  });

  test('that fails is made once more', async () => {
    const room = await lostPublisher();
    room.tries.at(-1)!.fail();
    await vi.advanceTimersByTimeAsync(0);
    room.tries.at(-1)!.make();
    await vi.advanceTimersByTimeAsync(500);
    room.packagers[1]!.begin();
    room.packagers[1]!.give(4000, 25);
    expect(room.told[1]).toBe('slate keyframe');
    const { length } = room.tries;
    room.packagers[1]!.die();
    await vi.advanceTimersByTimeAsync(5000);
    expect(room.tries).toHaveLength(length);
  });

  test('that breaks is made once more, unless the publisher is back', async () => {
    const room = await shown();
    const { length } = room.tries;
    room.packagers[1]!.die();
    await vi.advanceTimersByTimeAsync(100);
    expect(room.tries).toHaveLength(length + 1);
    room.tries.at(-1)!.make();
    await vi.advanceTimersByTimeAsync(500);
    room.packagers[2]!.begin();
    room.packagers[2]!.give(6000, 25);
    room.told.length = 0;
    await vi.advanceTimersByTimeAsync(1000);
    expect(room.told).toContain('slate keyframe');

    const other = await shown();
    await publish(other.live);
    const tries = other.tries.length;
    other.packagers[1]!.die();
    await vi.advanceTimersByTimeAsync(1000);
    expect(other.tries).toHaveLength(tries);
  });

  test('is left out where the publisher is lost again and again', async () => {
    const room = await lostPublisher();
    for (let times = 0; times < 9; times += 1) {
      const publisher = await publish(room.live);
      await vi.advanceTimersByTimeAsync(2000);
      publisher.close('lost');
      await vi.advanceTimersByTimeAsync(0);
    }
    // One was made ready when the picture was known.
    expect(room.tries).toHaveLength(1 + 6);
  });
});

describe('a publisher that comes back as its time runs out', () => {
  test.each([
    [-1, 'br1'],
    [0, 'br2'],
  ])(
    '%d ms before the end is in time or begins anew, and there is one broadcast of each',
    async (lateMs, id) => {
      const room = await lostPublisher();
      await vi.advanceTimersByTimeAsync(liveSettings.reconnectGraceMs + lateMs);
      const publisher = await publish(room.live);
      publisher.send(videoTag(0, avc.config()), videoTag(0, avc.keyframe()));
      await vi.advanceTimersByTimeAsync(1000);
      room.packagers.at(-1)!.begin();
      room.packagers.at(-1)!.give(8000, 75);
      expect(room.live.stats(() => true)).toMatchObject([{ broadcastId: id, state: 'live' }]);
      expect(room.ends).toEqual(id === 'br1' ? [] : ['publisher-gone']);
      await vi.advanceTimersByTimeAsync(liveSettings.keyframeTimeoutMs - 2000);
      expect(room.live.stats(() => true)).toHaveLength(1);
    },
  );
});
