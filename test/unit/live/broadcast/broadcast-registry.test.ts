import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { BroadcastRegistry } from '../../../../src/live/broadcast/broadcast-registry.ts';
import type { LiveSettings, PublisherConnection } from '../../../../src/live/broadcast/ports.ts';
import type { LiveStreamConfig, SelectLadder } from '../../../../src/live/broadcast/publish-admission.ts';
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

/** A registry whose broadcasts get no media, so that no packager starts. */
function startRegistry(
  owners: Readonly<Record<string, LiveStreamConfig>> = { key: owner },
  settings: Partial<LiveSettings> = {},
  selectLadder?: SelectLadder,
) {
  const ends: string[] = [];
  const live = new BroadcastRegistry({
    settings: { ...liveSettings, ...settings },
    codecCapabilities: { packager: 'auto', canReadEnhancedFlv: false },
    findStream: key => owners[key],
    ...(selectLadder === undefined ? {} : { selectLadder }),
    startPackager: () => {
      throw new Error('there is no media');
    },
    journal: {
      opened: () => `br${ends.length}`,
      changed: () => {},
      ended: (_, __, reason) => void ends.push(reason),
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
  return { live, ends };
}

describe('admission', () => {
  test.each<[string, Partial<LiveStreamConfig> | undefined, string]>([
    ['an unknown key', undefined, 'unknown-key'],
    ['a suspended account', { accountSuspended: true }, 'account-suspended'],
    ['production of an account that is not upgraded', { environment: 'production' }, 'account-not-upgraded'],
  ])('refuses %s', (_, change, reason) => {
    const { live } = startRegistry(change === undefined ? {} : { key: { ...owner, ...change } });
    expect(live.admit('key', connection().link)).toMatchObject({ accepted: false, reason });
  });

  test('accepts production streams of an upgraded account', () => {
    const { live } = startRegistry({ key: { ...owner, environment: 'production', accountUpgraded: true } });
    expect(live.admit('key', connection().link)).toMatchObject({ accepted: true });
  });

  test('accepts a second publisher once the first has been silent for three seconds', () => {
    const { live } = startRegistry();
    const first = connection();
    live.admit('key', first.link);
    vi.advanceTimersByTime(2999);
    expect(live.admit('key', connection().link)).toMatchObject({
      accepted: false,
      reason: 'already-publishing',
    });
    vi.advanceTimersByTime(1);
    expect(live.admit('key', connection().link)).toMatchObject({ accepted: true });
    expect(first.told).toEqual(['closed: Another connection publishes this stream.']);
  });

  test('refuses everybody while the server drains', async () => {
    const { live } = startRegistry();
    await live.drain(Date.now() + 1000);
    expect(live.admit('key', connection().link)).toMatchObject({ accepted: false, reason: 'draining' });
  });
});

describe('transcoded broadcasts', () => {
  const sandboxStream = (liveStreamId: string, projectId: string): LiveStreamConfig => ({
    ...owner,
    ...{ liveStreamId, projectId },
  });
  const owners: Readonly<Record<string, LiveStreamConfig>> = {
    a1: sandboxStream('a1', 'a'),
    a2: sandboxStream('a2', 'a'),
    b1: sandboxStream('b1', 'b'),
    c1: sandboxStream('c1', 'c'),
    plain: {
      ...owner,
      ...{ liveStreamId: 'p1', projectId: 'a', environment: 'production', accountUpgraded: true },
    },
  };
  const form: SelectLadder = ({ environment }) =>
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

  test('are limited per project and per server, and the refusal names the limit', async () => {
    const { live } = startRegistry(owners, { maxEncoders: 2, maxEncodersPerProject: 1 }, form);
    const admit = (key: string) => live.admit(key, connection().link);
    expect(admit('a1')).toMatchObject({ accepted: true });
    expect(admit('a2')).toEqual({
      accepted: false,
      reason: 'too-many-encoders',
      description: 'This project already encodes 1 live stream, which is its limit. End a broadcast first.',
    });
    expect(admit('b1')).toMatchObject({ accepted: true });
    expect(admit('c1')).toEqual({
      accepted: false,
      reason: 'too-many-encoders',
      description: 'This server already encodes 2 live streams, which is its limit. Try again later.',
    });
    expect(admit('plain')).toMatchObject({ accepted: true });
    // Refused encoders do not use up their attempts.
    for (let attempt = 0; attempt < 30; attempt += 1) {
      expect(admit('a2')).toMatchObject({ reason: 'too-many-encoders' });
    }
    await live.remove('a1');
    expect(admit('a2')).toMatchObject({ accepted: true });
  });

  test('continue when their publisher reconnects at the limit', async () => {
    const { live } = startRegistry(owners, { maxEncoders: 1, maxEncodersPerProject: 1 }, form);
    live.admit('a1', connection().link);
    await vi.advanceTimersByTimeAsync(4000);
    expect(live.admit('a1', connection().link)).toMatchObject({ accepted: true });
  });
});

describe('a broadcast of a suspended account', () => {
  test('ends at once and disconnects its publisher', async () => {
    const { live, ends } = startRegistry();
    const { link, told } = connection();
    expect(live.suspend('li1')).toBe(false);
    live.admit('key', link);
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
    live.admit('key', first.link);
    await vi.advanceTimersByTimeAsync(limitMs / 2);
    live.admit('key', second.link);
    await vi.advanceTimersByTimeAsync(limitMs / 2 - 1);
    expect(ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toEqual(['sandbox-limit']);
    expect(second.told).toEqual([
      'closed: Sandbox broadcasts end after 30 minutes. To stream longer, use production.',
    ]);
    expect(live.admit('key', next.link)).toMatchObject({ accepted: true });
    await vi.advanceTimersByTimeAsync(limitMs - 1);
    expect(ends).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toEqual(['sandbox-limit', 'sandbox-limit']);
  });

  test('leaves no timer when it ends earlier', async () => {
    const { live, ends } = startRegistry();
    live.admit('key', connection().link);
    live.complete('li1');
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
    live.admit('key', connection().link);
    await vi.advanceTimersByTimeAsync(2 * limitMs);
    expect(ends).toEqual([]);
  });
});

describe('a completed broadcast', () => {
  test('ends at once and disconnects its publisher a minute later', async () => {
    const { live, ends } = startRegistry();
    const { link, told } = connection();
    live.admit('key', link);
    live.complete('li1');
    await vi.advanceTimersByTimeAsync(59_999);
    expect(ends).toEqual(['completed']);
    expect(told).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(told).toEqual(['closed: The broadcast was ended from the dashboard or API.']);
  });

  test('leaves no timer when its publisher disconnects earlier', async () => {
    const { live } = startRegistry();
    const answer = live.admit('key', connection().link);
    live.complete('li1');
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
    live.admit('key', one.link);
    live.admit('other', two.link);
    await live.stop();
    await live.stop();
    expect(ends).toEqual(['server-stopped', 'server-stopped']);
    expect(one.told).toContain('closed: The server is stopping.');
    expect(two.told).toContain('closed: The server is stopping.');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('has the reason no-media for a publisher without media', async () => {
    const { live, ends } = startRegistry();
    const answer = live.admit('key', connection().link);
    if (answer.accepted) answer.handler.closed('unpublished');
    await vi.advanceTimersByTimeAsync(0);
    expect(ends).toEqual(['no-media']);
    expect(live.state('li1')).toEqual({ live: false });
  });

  test('refuses a publisher without media after the keyframe timeout', async () => {
    const { live, ends } = startRegistry();
    const { link, told } = connection();
    live.admit('key', link);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(told).toEqual(['refused: No audio or video arrived for 20 s. Check the sources in the encoder.']);
    expect(ends).toEqual(['no-media']);
  });
});

test('state changes reach the listeners of a stream until they unsubscribe', async () => {
  const { live } = startRegistry();
  const told: string[] = [];
  const leave = live.onStateChange('li1', () => told.push('li1'));
  live.onStateChange('li2', () => told.push('li2'));
  live.admit('key', connection().link);
  expect(live.countByState()).toEqual({ starting: 1, live: 0, waiting: 0, stopping: 0 });
  live.complete('li1');
  await vi.advanceTimersByTimeAsync(0);
  expect(told).toEqual(['li1']);
  leave();
  await live.remove('li1');
  expect(told).toEqual(['li1']);
});
