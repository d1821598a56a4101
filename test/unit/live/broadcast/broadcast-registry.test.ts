import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BroadcastRegistry } from '../../../../src/live/broadcast/broadcast-registry.ts';
import type { BroadcastInfo } from '../../../../src/live/broadcast/broadcast-subscriber.ts';
import type { LiveSettings, PublisherConnection } from '../../../../src/live/broadcast/ports.ts';
import type { LiveStreamConfig, SelectLadder } from '../../../../src/live/broadcast/publish-admission.ts';
import { IngestLog } from '../../../../src/live/health/ingest-log.ts';
import { silentLogger } from '../../../../src/shared/logger.ts';
import { sandboxLimits } from '../../../../src/shared/sandbox-limits.ts';
import { liveSettings } from '../../../support/fake-broadcasts.ts';

const owner: LiveStreamConfig = {
  liveStreamId: 'li1',
  projectId: 'pr1',
  environment: 'sandbox',
  accountSuspended: false,
  accountUpgraded: false,
  restreams: [],
};

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A connection that records what it is told. */
function connection(): { link: PublisherConnection; told: string[] } {
  const told: string[] = [];
  const link: PublisherConnection = {
    connectionId: 'co1',
    protocol: 'rtmp',
    remoteAddress: '192.0.2.1',
    encoder: 'test',
    refuse: description => void told.push(`refused: ${description}`),
    close: description => void told.push(`closed: ${description}`),
    pause: () => void told.push('paused'),
    resume: () => void told.push('resumed'),
  };
  return { link, told };
}

const startNoPackager = () => {
  throw new Error('there is no media');
};

/** A registry whose broadcasts get no media, so that no packager starts. */
function startRegistry(
  owners: Readonly<Record<string, LiveStreamConfig>> = { key: owner },
  settings: Partial<LiveSettings> = {},
  selectLadder?: SelectLadder,
  stored?: Promise<void>,
) {
  const ends: string[] = [];
  const begun: BroadcastInfo[] = [];
  const log = new IngestLog({ nowMs: () => Date.now() });
  const live = new BroadcastRegistry({
    settings: { ...liveSettings, ...settings },
    codecCapabilities: { packager: 'auto', canReadEnhancedFlv: false },
    findStream: async key => owners[key],
    selectLadder,
    startPackager: startNoPackager,
    startTrackPackager: startNoPackager,
    storeCutOff: async () => {},
    ingestLog: log,
    journal: {
      opened: async () => {
        await stored;
        return `br${ends.length}`;
      },
      changed: async () => {},
      ended: async (_, __, reason) => void ends.push(reason),
    },
    observer: {
      partListed() {},
      segmentListed() {},
      packagerFailed() {},
      framesLost() {},
      broadcastEnded() {},
    },
    clock: { nowMs: () => Date.now(), monotonicMs: () => Date.now() },
    log: silentLogger,
    maxSandboxBroadcastMs: sandboxLimits.maxBroadcastMs,
  });
  live.subscribe(broadcast => {
    begun.push(broadcast);
    return [];
  });
  return { live, ends, begun, log };
}

/** Encodes the broadcasts of the sandbox. */
const transcodedSandbox: SelectLadder = ({ environment }) =>
  environment === 'production'
    ? undefined
    : {
        isLadder: true,
        watermark: undefined,
        renditionsFor: () => [],
        startEncoder: () => {
          throw new Error('no media');
        },
      };

describe('admission', () => {
  test.each<[string, Partial<LiveStreamConfig> | undefined, string]>([
    ['an unknown key', undefined, 'unknown-key'],
    ['a suspended account', { accountSuspended: true }, 'account-suspended'],
    ['production of an account that is not upgraded', { environment: 'production' }, 'account-not-upgraded'],
  ])('refuses %s', async (_, change, reason) => {
    const { live } = startRegistry(change === undefined ? {} : { key: { ...owner, ...change } });
    expect(await live.admit('key', connection().link)).toMatchObject({ accepted: false, reason });
  });

  test('accepts production streams of an upgraded account', async () => {
    const { live } = startRegistry({ key: { ...owner, environment: 'production', accountUpgraded: true } });
    expect(await live.admit('key', connection().link)).toMatchObject({ accepted: true });
  });

  test('accepts a second publisher once the first has been silent for three seconds', async () => {
    const { live, log } = startRegistry();
    const first = connection();
    const second = { ...connection().link, remoteAddress: '192.0.2.2' };
    await live.admit('key', first.link);
    vi.advanceTimersByTime(2999);
    expect(await live.admit('key', second)).toMatchObject({ accepted: false, reason: 'already-publishing' });
    vi.advanceTimersByTime(1);
    expect(await live.admit('key', second)).toMatchObject({ accepted: true });
    expect(first.told).toEqual(['closed: Another connection is publishing to this live stream.']);
    expect(live.connectingOf('li1')).toEqual({ protocol: 'rtmp', encoder: 'test', waitingFor: 'media' });
    expect(
      log.list('li1', '198.51.100.1').map(({ type, address, reason }) => [type, address, reason]),
    ).toEqual([
      ['connected', '192.0.2.1', undefined],
      ['refused', '192.0.2.2', 'already-publishing'],
      ['disconnected', undefined, 'replaced'],
      ['connected', '192.0.2.2', undefined],
    ]);
    await live.remove('li1');
    expect([live.connectingOf('li1'), log.list('li1', '198.51.100.1').length]).toEqual([undefined, 0]);
  });

  test('refuses everybody while the server drains', async () => {
    const { live } = startRegistry();
    await live.drain(Date.now() + 1000);
    expect(await live.admit('key', connection().link)).toMatchObject({ accepted: false, reason: 'draining' });
  });
});

describe('while a broadcast is being stored', () => {
  /** A registry whose next broadcast is stored when the test says so. */
  function startSlowly(
    owners?: Readonly<Record<string, LiveStreamConfig>>,
    settings?: Partial<LiveSettings>,
    selectLadder?: SelectLadder,
  ) {
    const storing = Promise.withResolvers<void>();
    const registry = startRegistry(owners, settings, selectLadder, storing.promise);
    return { ...registry, stored: () => storing.resolve() };
  }

  test('another publisher of the same live stream is refused', async () => {
    const { live, stored } = startSlowly();
    const answers = [live.admit('key', connection().link), live.admit('key', connection().link)];
    expect(await answers[1]).toMatchObject({ accepted: false, reason: 'already-publishing' });
    stored();
    expect(await answers[0]).toMatchObject({ accepted: true });
    expect(live.openCount).toBe(1);
  });

  test('it counts for the limit of encoders', async () => {
    const owners = { one: owner, two: { ...owner, liveStreamId: 'li2' } };
    const { live, stored } = startSlowly(owners, { maxEncodersPerProject: 1 }, transcodedSandbox);
    const first = live.admit('one', connection().link);
    expect(await live.admit('two', connection().link)).toMatchObject({ reason: 'too-many-encoders' });
    stored();
    expect(await first).toMatchObject({ accepted: true });
  });

  test('it ends when its live stream is deleted', async () => {
    const owners: Record<string, LiveStreamConfig> = { key: owner };
    const { live, ends, stored } = startSlowly(owners);
    const answer = live.admit('key', connection().link);
    await Promise.resolve();
    const removal = live.remove('li1');
    delete owners.key;
    stored();
    await removal;
    expect(await answer).toMatchObject({ accepted: false, reason: 'unknown-key' });
    expect([ends, live.openCount]).toEqual([['deleted'], 0]);
  });

  test('it ends when the server stops, which waits for it', async () => {
    const { live, ends, stored } = startSlowly();
    const answer = live.admit('key', connection().link);
    await Promise.resolve();
    const stop = live.stop();
    stored();
    await stop;
    expect(ends).toEqual(['server-stopped']);
    expect(await answer).toMatchObject({ accepted: false, reason: 'draining' });
  });

  test('it begins with the restreams that were set meanwhile', async () => {
    const owners: Record<string, LiveStreamConfig> = { key: owner };
    const { live, stored, begun } = startSlowly(owners);
    const answer = live.admit('key', connection().link);
    await Promise.resolve();
    const restreams = [{ name: 'new', serverUrl: 'rtmp://192.0.2.2/live', streamKey: 'secret' }];
    owners.key = { ...owner, restreams };
    stored();
    expect(await answer).toMatchObject({ accepted: true });
    expect(begun).toMatchObject([{ broadcastId: 'br0', restreams }]);
  });
});

describe('transcoded broadcasts', () => {
  const sandboxStream = (liveStreamId: string, projectId: string): LiveStreamConfig => ({
    ...owner,
    liveStreamId,
    projectId,
  });
  const owners: Readonly<Record<string, LiveStreamConfig>> = {
    a1: sandboxStream('a1', 'a'),
    a2: sandboxStream('a2', 'a'),
    b1: sandboxStream('b1', 'b'),
    c1: sandboxStream('c1', 'c'),
    plain: {
      ...owner,
      liveStreamId: 'p1',
      projectId: 'a',
      environment: 'production',
      accountUpgraded: true,
    },
  };
  test('are limited per project and per server, and the refusal names the limit', async () => {
    const { live } = startRegistry(owners, { maxEncoders: 2, maxEncodersPerProject: 1 }, transcodedSandbox);
    const admit = (key: string) => live.admit(key, connection().link);
    expect(await admit('a1')).toMatchObject({ accepted: true });
    expect(await admit('a2')).toEqual({
      accepted: false,
      reason: 'too-many-encoders',
      description: 'This project already encodes 1 live stream, which is its limit. End a broadcast first.',
    });
    expect(await admit('b1')).toMatchObject({ accepted: true });
    expect(await admit('c1')).toEqual({
      accepted: false,
      reason: 'too-many-encoders',
      description: 'This server already encodes 2 live streams, which is its limit. Try again later.',
    });
    expect(await admit('plain')).toMatchObject({ accepted: true });
    // Refused encoders do not use up their attempts.
    for (let attempt = 0; attempt < 30; attempt += 1) {
      expect(await admit('a2')).toMatchObject({ reason: 'too-many-encoders' });
    }
    await live.remove('a1');
    expect(await admit('a2')).toMatchObject({ accepted: true });
  });

  test('count publishers whose codec must be encoded, while they are there', async () => {
    const plain = (liveStreamId: string): LiveStreamConfig => ({ ...owners.plain!, liveStreamId });
    const streams = { one: plain('o1'), two: plain('t1') };
    const { live } = startRegistry(streams, { maxEncoders: 1, maxEncodersPerProject: 2 }, transcodedSandbox);
    const admit = (key: string, needsEncoding: boolean) =>
      live.admit(key, { ...connection().link, needsEncoding });
    const reconnect = async (key: string, needsEncoding: boolean) => {
      await vi.advanceTimersByTimeAsync(4000);
      return admit(key, needsEncoding);
    };
    expect(await admit('one', true)).toMatchObject({ accepted: true });
    const full = {
      accepted: false,
      reason: 'too-many-encoders',
      description:
        'This server already encodes 1 live stream, which is its limit. Try again later, or publish H.264, which needs no encoding.',
    };
    expect(await admit('two', true)).toEqual(full);
    expect(await admit('two', false)).toMatchObject({ accepted: true });
    expect(await reconnect('two', true)).toEqual(full);
    expect(await reconnect('one', true)).toMatchObject({ accepted: true });
    expect(await reconnect('one', false)).toMatchObject({ accepted: true });
    expect(await reconnect('two', true)).toMatchObject({ accepted: true });
  });

  test('continue when their publisher reconnects at the limit', async () => {
    const { live } = startRegistry(owners, { maxEncoders: 1, maxEncodersPerProject: 1 }, transcodedSandbox);
    await live.admit('a1', connection().link);
    await vi.advanceTimersByTimeAsync(4000);
    expect(await live.admit('a1', connection().link)).toMatchObject({ accepted: true });
  });
});

describe('a broadcast of a suspended account', () => {
  test('ends at once and disconnects its publisher', async () => {
    const { live, ends } = startRegistry();
    const { link, told } = connection();
    expect(live.suspend('li1')).toBe(false);
    await live.admit('key', link);
    expect(live.suspend('li1')).toBe(true);
    expect(told).toEqual(['closed: This account is suspended. Ask the operator of the server.']);
    await vi.advanceTimersByTimeAsync(0);
    expect(ends).toEqual(['account-suspended']);
    expect(live.suspend('li1')).toBe(false);
  });
});

describe('a broadcast of the sandbox', () => {
  const limitMs = 30 * 60_000;
  // The broadcast continues without media.
  const patient = { keyframeTimeoutMs: 10 * limitMs };

  test('ends half an hour after its start, across publishers; the next one may begin at once', async () => {
    const { live, ends } = startRegistry({ key: owner }, patient);
    const [first, second, next] = [connection(), connection(), connection()];
    await live.admit('key', first.link);
    await vi.advanceTimersByTimeAsync(limitMs / 2);
    await live.admit('key', second.link);
    await vi.advanceTimersByTimeAsync(limitMs / 2 - 1);
    expect(ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toEqual(['sandbox-limit']);
    expect(second.told).toEqual([
      'closed: Sandbox broadcasts end after 30 minutes. To stream longer, use production.',
    ]);
    expect(await live.admit('key', next.link)).toMatchObject({ accepted: true });
    await vi.advanceTimersByTimeAsync(limitMs - 1);
    expect(ends).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toEqual(['sandbox-limit', 'sandbox-limit']);
  });

  test('leaves no timer when it ends earlier', async () => {
    const { live, ends } = startRegistry();
    await live.admit('key', connection().link);
    void live.complete('li1');
    await vi.advanceTimersByTimeAsync(2 * limitMs);
    expect(ends).toEqual(['completed']);
    await live.stop();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('has no such limit in production', async () => {
    const { live, ends } = startRegistry(
      { key: { ...owner, environment: 'production', accountUpgraded: true } },
      patient,
    );
    await live.admit('key', connection().link);
    await vi.advanceTimersByTimeAsync(2 * limitMs);
    expect(ends).toEqual([]);
  });
});

describe('a completed broadcast', () => {
  test('ends at once and disconnects its publisher with the reason', async () => {
    const { live, ends } = startRegistry();
    const { link, told } = connection();
    await live.admit('key', link);
    await live.complete('li1');
    expect(ends).toEqual(['completed']);
    expect(told).toEqual(['closed: The broadcast was ended on the server.']);
  });

  test('leaves no timer when its publisher disconnects earlier', async () => {
    const { live } = startRegistry();
    const answer = await live.admit('key', connection().link);
    await live.complete('li1');
    if (answer.accepted) answer.handler.closed('unpublished');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(vi.getTimerCount()).toBe(0);
    expect(live.find('li1', 'br0')).toBeUndefined();
  });
});

describe('the end of a broadcast', () => {
  test('is reported once with its reason and leaves no timer', async () => {
    const { live, ends } = startRegistry({ key: owner, other: { ...owner, liveStreamId: 'li2' } });
    const [one, two] = [connection(), connection()];
    await live.admit('key', one.link);
    await live.admit('other', two.link);
    await live.stop();
    await live.stop();
    expect(ends).toEqual(['server-stopped', 'server-stopped']);
    expect(one.told).toContain('closed: The server is stopping.');
    expect(two.told).toContain('closed: The server is stopping.');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('has the reason no-media for a publisher without media', async () => {
    const { live, ends, log } = startRegistry();
    const answer = await live.admit('key', connection().link);
    if (answer.accepted) answer.handler.closed('unpublished');
    await vi.advanceTimersByTimeAsync(0);
    expect(ends).toEqual(['no-media']);
    expect(log.list('li1', '198.51.100.1')).toMatchObject([{ type: 'ended', reason: 'no-media', times: 1 }]);
    expect(live.state('li1')).toEqual({ live: false });
  });

  test('refuses a publisher without media after the keyframe timeout', async () => {
    const { live, ends, log } = startRegistry();
    const { link, told } = connection();
    await live.admit('key', link);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(told).toEqual(['refused: No audio or video arrived for 20 s. Check the sources in the encoder.']);
    expect(ends).toEqual(['no-media']);
    expect(log.list('li1', '198.51.100.1')).toMatchObject([
      { type: 'refused', reason: 'no-media', times: 1 },
    ]);
  });
});

test('state changes reach the listeners of a stream until they unsubscribe', async () => {
  const { live } = startRegistry();
  const told: string[] = [];
  const leave = live.onStateChange('li1', () => told.push('li1'));
  live.onStateChange('li2', () => told.push('li2'));
  await live.admit('key', connection().link);
  expect(live.countByState()).toEqual({ starting: 1, live: 0, waiting: 0, stopping: 0 });
  void live.complete('li1');
  await vi.advanceTimersByTimeAsync(0);
  expect(told).toEqual(['li1']);
  leave();
  await live.remove('li1');
  expect(told).toEqual(['li1']);
});
