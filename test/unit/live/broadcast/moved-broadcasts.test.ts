import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { parseMediaPlaylist } from '../../../../scripts/parse-media-playlist.ts';
import type { BroadcastRegistry } from '../../../../src/live/broadcast/broadcast-registry.ts';
import type { BroadcastClaims } from '../../../../src/live/broadcast/ports.ts';
import { avc, publish, startFakeBroadcasts, videoTag } from '../../../support/fake-broadcasts.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const { signal } = new AbortController();

function fakeClaims(claimed: Awaited<ReturnType<BroadcastClaims['claim']>>) {
  const released: string[] = [];
  const claims: BroadcastClaims = {
    claim: async () => claimed,
    release: async broadcastId => void released.push(broadcastId),
    canMove: async () => true,
  };
  return { claims, released };
}

const continued = {
  startedAtMs: 1,
  claim: 2,
  continuesAt: 5000,
  targetDurationSeconds: 4,
  recording: undefined,
};

async function begin(fake: ReturnType<typeof startFakeBroadcasts>) {
  const publisher = await publish(fake.live);
  publisher.send(videoTag(0, avc.config()), videoTag(0, avc.keyframe()));
  await vi.advanceTimersByTimeAsync(3000);
  fake.packagers[0]!.begin();
  for (const seconds of [0, 2, 4]) fake.packagers[0]!.give(seconds * 1000, 50);
  await vi.advanceTimersByTimeAsync(10);
  return publisher;
}

async function listOf(live: BroadcastRegistry, query = '') {
  const asked = live.find('li1', 'br1')!.mediaPlaylist('source', new URLSearchParams(query), signal);
  await vi.advanceTimersByTimeAsync(4_100);
  const answer = await asked;
  return {
    ...answer,
    list: answer.status === 200 ? parseMediaPlaylist(answer.text.plain.toString()) : undefined,
  };
}

test('a continued broadcast waits for a publisher whose connections drop before their first media', async () => {
  const fake = startFakeBroadcasts({ claims: fakeClaims({ broadcastId: 'br1', continued }).claims });
  for (let drops = 0; drops < 3; drops += 1) {
    const publisher = await publish(fake.live);
    publisher.close('connection-closed');
    await vi.advanceTimersByTimeAsync(5_000);
    expect([fake.ends, fake.states.at(-1)]).toEqual([[], 'waiting']);
  }
  await begin(fake);
  expect((await listOf(fake.live)).list).toMatchObject({ mediaSequence: 5000 });
  expect(fake.states.at(-1)).toBe('live');
});

test('a continued broadcast whose publisher stays away ends after the grace time', async () => {
  const fake = startFakeBroadcasts({ claims: fakeClaims({ broadcastId: 'br1', continued }).claims });
  (await publish(fake.live)).close('connection-closed');
  await vi.advanceTimersByTimeAsync(59_000);
  expect(fake.ends).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(fake.ends).toEqual(['publisher-gone']);
});

test('a continued broadcast lists numbers beyond those of the other server', async () => {
  const fake = startFakeBroadcasts({ claims: fakeClaims({ broadcastId: 'br1', continued }).claims });
  await begin(fake);
  const { list } = await listOf(fake.live);
  expect(list).toMatchObject({ mediaSequence: 5000, discontinuitySequence: 5000, targetDurationSeconds: 4 });
  expect(list!.segments[0]).toMatchObject({ discontinuity: true, map: { uri: 'init-5001.mp4' } });
  const parts = list!.segments.flatMap(segment => segment.parts).filter(({ uri }) => uri.startsWith('part-'));
  for (const { uri } of parts) expect(Number(/\d+/.exec(uri)?.[0])).toBeGreaterThanOrEqual(80_000);
  expect(parts.length).toBeGreaterThan(0);
  expect(fake.live.stats(() => true)[0]?.durationSeconds).toBeGreaterThan(1_000_000);
});

test('a moved broadcast stays unfinished, and answers held requests', async () => {
  const { claims, released } = fakeClaims({ broadcastId: 'br1', continued: undefined });
  const fake = startFakeBroadcasts({ claims });
  const publisher = await begin(fake);
  const { list } = await listOf(fake.live);
  const next = list!.mediaSequence + list!.segments.length;
  const held = listOf(fake.live, `_HLS_msn=${next + 1}`);
  await fake.live.move('br1', 'Another server receives this stream.');
  expect((await held).list?.endList ?? false).toBe(false);
  // Nothing more comes, so that nothing is held.
  const last = (await listOf(fake.live)).list!;
  const query = new URLSearchParams({ _HLS_msn: `${last.mediaSequence + last.segments.length}` });
  expect(await fake.live.find('li1', 'br1')!.mediaPlaylist('source', query, signal)).toMatchObject({
    status: 503,
  });
  expect(publisher.told).toEqual(['closed: Another server receives this stream.']);
  expect(released).toEqual(['br1']);
  expect(fake.ends).toEqual([]);
  expect((await listOf(fake.live)).list).toMatchObject({ endList: false });
  expect(fake.live.state('li1').live).toBe(false);
  expect(fake.live.running()).toEqual([]);
});

test('a moved broadcast disconnects its publisher before its last media is packaged', async () => {
  const { claims, released } = fakeClaims({ broadcastId: 'br1', continued: undefined });
  const fake = startFakeBroadcasts({ claims });
  const publisher = await begin(fake);
  const moving = fake.live.move('br1', 'Reconnect.');
  expect([publisher.told, released]).toEqual([['closed: Reconnect.'], []]);
  await moving;
  expect(released).toEqual(['br1']);
});

test('a publisher is told to reconnect also when its broadcast cannot be left to another server', async () => {
  const { claims } = fakeClaims({ broadcastId: 'br1', continued: undefined });
  const release = async () => {
    throw new Error('the database is away');
  };
  const fake = startFakeBroadcasts({ claims: { ...claims, release } });
  const publisher = await begin(fake);
  await expect(fake.live.move('br1', 'Reconnect.')).rejects.toThrow('the database is away');
  expect(publisher.told).toEqual(['closed: Reconnect.']);
});

test('a server that cannot move its broadcasts ends them', async () => {
  const { claims } = fakeClaims({ broadcastId: 'br1', continued: undefined });
  const canMove = async () => {
    throw new Error('the database is away');
  };
  const fake = startFakeBroadcasts({ claims: { ...claims, canMove } });
  const publisher = await begin(fake);
  const drained = fake.live.drain(Date.now() + 1000);
  await vi.advanceTimersByTimeAsync(1000);
  await drained;
  expect(publisher.told).toEqual(['closed: The server is stopping.']);
  expect(fake.ends).toEqual(['server-stopped']);
});

test('a publisher that comes back while its broadcast ends gets another one', async () => {
  const stored = Promise.withResolvers<void>();
  const order: string[] = [];
  const { claims } = fakeClaims({ broadcastId: 'br1', continued: undefined });
  const claim = async () => {
    order.push('claimed');
    return { broadcastId: `br${order.length}`, continued: undefined };
  };
  const ended = async () => {
    await stored.promise;
    order.push('ended');
  };
  const journal = { opened: async () => '', changed: async () => {}, ended };
  const fake = startFakeBroadcasts({ claims: { ...claims, claim }, journal });
  const publisher = await begin(fake);
  void fake.live.complete('li1');
  publisher.close('unpublished');
  const again = publish(fake.live, { encoder: 'another encoder' });
  await vi.advanceTimersByTimeAsync(100);
  stored.resolve();
  await again;
  expect(order).toEqual(['claimed', 'ended', 'claimed']);
});

test('a server that drains leaves its broadcasts to others', async () => {
  const { claims, released } = fakeClaims({ broadcastId: 'br1', continued: undefined });
  const fake = startFakeBroadcasts({ claims });
  const publisher = await begin(fake);
  const drained = fake.live.drain(Date.now() + 1000);
  await vi.advanceTimersByTimeAsync(1000);
  await drained;
  expect(publisher.told).toEqual(['closed: The server is restarting. Reconnect in a moment.']);
  expect(released).toEqual(['br1']);
  expect(fake.ends).toEqual([]);
});

test('a publisher is refused while another server receives the stream', async () => {
  const fake = startFakeBroadcasts({ claims: fakeClaims(undefined).claims });
  const { answer } = await publish(fake.live);
  expect(answer).toMatchObject({ accepted: false, reason: 'already-publishing' });
});
