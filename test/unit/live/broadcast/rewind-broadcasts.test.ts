import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OpenStorage } from '../../../../src/live/window/part-store.ts';
import { collectGarbage } from '../../../support/collect-garbage.ts';
import { avc, publish, startFakeBroadcasts, videoTag } from '../../../support/fake-broadcasts.ts';
import { waitUntil } from '../../../support/wait-until.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Starts a registry with rewind on a disk that takes everything, or nothing. */
function startWithRewind(seconds: number, isFull = false, record?: boolean) {
  const removed: string[] = [];
  const openStorage: OpenStorage = ({ broadcastId, isKeptAfterEnd }) => ({
    rewindSeconds: seconds,
    isKeptAfterEnd,
    sharedFiles: { link: async () => undefined, complete() {} },
    store: () => ({
      write: ({ sequence }, onStored) => {
        if (!isFull) onStored({ file: sequence, offset: 0 });
      },
      cancelWrite() {},
      retain() {},
      release() {},
      finish() {},
      slice: ({ file, offset }, bytes) => ({ path: `file-${file}`, start: offset, length: bytes }),
    }),
    remove: () => void removed.push(broadcastId),
  });
  return { ...startFakeBroadcasts({ openStorage }, { record }), removed };
}

/** Broadcasts for a time to somebody who watches, and ends the broadcast. */
async function broadcast(fake: ReturnType<typeof startWithRewind>, seconds: number): Promise<void> {
  const publisher = await publish(fake.live, { encoder: `encoder ${fake.packagers.length}` });
  publisher.send(videoTag(0, avc.config()), videoTag(0, avc.keyframe()));
  await vi.advanceTimersByTimeAsync(1000);
  const packager = fake.packagers.at(-1)!;
  packager.begin();
  for (let second = 1; second < seconds; second += 2) {
    packager.give(second * 1000, 50);
    publisher.send(videoTag(second * 1000, avc.keyframe()));
    await vi.advanceTimersByTimeAsync(2000);
    await originOf(fake, 'segment-4.m4s');
  }
  void fake.live.complete('li1');
  await vi.advanceTimersByTimeAsync(0);
}

async function originOf(fake: ReturnType<typeof startWithRewind>, name: string): Promise<string> {
  const answer = await fake.live.find('li1', 'br1')?.media('source', name, new AbortController().signal);
  if (answer === undefined) return 'nowhere';
  return answer.parts.every(piece => Buffer.isBuffer(piece)) ? 'memory' : 'disk';
}

test.each([
  ['as long as it lasted', 200, 3600, 200],
  ['no longer than it could be rewound', 200, 100, 100],
  ['an hour at most', 3700, 24 * 3600, 3600],
  ['a minute at least', 30, 3600, 60],
])('an ended broadcast can be played %s', async (_, lastsSeconds, rewindSeconds, keptSeconds) => {
  const fake = startWithRewind(rewindSeconds);
  await broadcast(fake, lastsSeconds);
  await vi.advanceTimersByTimeAsync(50_000);
  expect(fake.live.current('li1')).toBeDefined();
  await vi.advanceTimersByTimeAsync((keptSeconds - 50 - 5) * 1000);
  expect(fake.live.current('li1')).toBeDefined();
  expect(fake.removed).toEqual([]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(fake.live.current('li1')).toBeUndefined();
  expect(fake.removed).toEqual(['br1']);
});

test('leaves the memory a minute after the end', async () => {
  const fake = startWithRewind(3600);
  await broadcast(fake, 200);
  // The newest one is a still.
  expect(await originOf(fake, 'segment-103.m4s')).toBe('disk');
  expect(await originOf(fake, 'segment-104.m4s')).toBe('memory');
  await vi.advanceTimersByTimeAsync(61_000);
  expect(await originOf(fake, 'segment-104.m4s')).toBe('disk');
});

test('keeps nothing that its publisher sent, a minute after the end', async () => {
  const fake = startWithRewind(3600);
  await broadcast(fake, 200);
  const sent = fake.packagers
    .splice(0)
    .flatMap(({ written, events }) => [events, ...written.splice(0)].map(one => new WeakRef(one)));
  await vi.advanceTimersByTimeAsync(61_000);
  vi.useRealTimers();
  await waitUntil(() => {
    collectGarbage();
    return sent.every(one => one.deref() === undefined);
  });
  expect(fake.live.current('li1')?.multivariant()).toBeDefined();
});

test('media that is not on disk can be played for a minute', async () => {
  const fake = startWithRewind(3600, true);
  await broadcast(fake, 200);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(fake.live.current('li1')).toBeDefined();
  await vi.advanceTimersByTimeAsync(2000);
  expect(fake.live.current('li1')).toBeUndefined();
  expect(fake.removed).toEqual(['br1']);
});

test('the next broadcast takes the URL of the stream, and up to two former ones stay playable at their own', async () => {
  const fake = startWithRewind(3600);
  for (const lasts of [300, 200, 50]) {
    await broadcast(fake, lasts);
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(fake.live.current('li1')?.broadcastId).toBe('br3');
  expect(fake.live.find('li1', 'br2')).toBeDefined();
  const before = fake.removed.length;
  await broadcast(fake, 10);
  expect(fake.live.current('li1')?.broadcastId).toBe('br4');
  expect(fake.removed.length).toBeGreaterThan(before);
  await fake.live.remove('li1');
  expect([...fake.removed].sort()).toEqual(['br1', 'br2', 'br3', 'br4']);
});

test('a broadcast without recording can be played for a minute, and leaves the disk', async () => {
  const fake = startWithRewind(3600, false, false);
  await broadcast(fake, 200);
  const { signal } = new AbortController();
  const answer = await fake.live.find('li1', 'br1')!.mediaPlaylist('source', new URLSearchParams(), signal);
  const text = answer.status === 200 ? answer.text.plain.toString() : '';
  expect(text).toContain('#EXT-X-ENDLIST');
  const listed = [...text.matchAll(/^(?:segment-.*|.*URI="(init-[^"]+)".*)$/gm)].map(
    ([uri, init]) => init ?? uri,
  );
  expect(listed.length).toBeGreaterThan(90);
  for (const name of listed) expect(await originOf(fake, name), name).not.toBe('nowhere');
  expect(fake.removed).toEqual([]);
  await vi.advanceTimersByTimeAsync(61_000);
  expect(fake.live.current('li1')).toBeUndefined();
  expect(fake.removed).toEqual(['br1']);
});
