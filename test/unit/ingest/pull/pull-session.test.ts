import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PublisherConnection } from '../../../../src/ingest/publish-gate.ts';
import type { PullEvents, PullInput } from '../../../../src/ingest/pull/pull-input.ts';
import {
  type PullSource,
  type PullStatus,
  PullSupervisor,
} from '../../../../src/ingest/pull/pull-supervisor.ts';
import type { MediaEvent } from '../../../../src/media/samples/media-sample.ts';
import { silentLogger } from '../../../../src/shared/logger.ts';
import { fakedClock } from '../../../support/faked-clock.ts';
import { samples } from '../../../support/media-samples.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const source: PullSource = {
  liveStreamId: 'li1',
  projectId: 'project',
  streamKey: 'key',
  url: 'rtsp://camera.example.org/',
};
const frame = samples.video('avc1', { dtsMs: 0, isKeyframe: true, data: Buffer.of(1) });

/** A supervisor of one source, which does what `connected` does. */
async function start(connected: (events: PullEvents, signal: AbortSignal) => Promise<void> | void) {
  const attempts: { readonly atMs: number; stoppedAtMs?: number }[] = [];
  const statuses: PullStatus[] = [];
  const received: MediaEvent[] = [];
  const closed: string[] = [];
  let publisher: PublisherConnection | undefined;
  const supervisor = new PullSupervisor({
    list: async () => [source],
    listNodes: async () => ['one'],
    nodeId: () => 'one',
    report: async (_, status) => void statuses.push(status),
    onChange: () => () => {},
    open: async (_, events, signal): Promise<PullInput> => {
      const attempt: (typeof attempts)[number] = { atMs: Date.now() };
      attempts.push(attempt);
      await connected(events, signal);
      const { promise: ended, resolve } = Promise.withResolvers<string>();
      const stop = async () => {
        attempt.stoppedAtMs = Date.now();
        resolve('');
      };
      return { ended, remoteAddress: '', stop };
    },
    gate: {
      request: async (_, connection) => {
        publisher = connection;
        const sink = {
          media: (event: MediaEvent) => received.push(event),
          closed: (why: string) => closed.push(why),
        };
        return { accepted: true, sink };
      },
    },
    maxSources: 10,
    maxSourcesPerProject: 10,
    onBytes: () => {},
    clock: fakedClock,
    log: silentLogger,
  });
  await supervisor.start();
  await vi.advanceTimersByTimeAsync(0);
  return { supervisor, attempts, statuses, received, closed, publisher: () => publisher! };
}

describe('a source', () => {
  it('that connects and stays silent is ended after 15 s, and tried again less and less often', async () => {
    const { supervisor, attempts, statuses } = await start(() => {});
    await vi.advanceTimersByTimeAsync(10 * 60_000);
    const pauses = attempts.slice(1).map(({ atMs }, index) => atMs - attempts[index]!.stoppedAtMs!);
    expect(attempts.every(({ atMs, stoppedAtMs }) => (stoppedAtMs ?? atMs + 15_000) - atMs === 15_000)).toBe(
      true,
    );
    // A quarter of each is left to chance.
    for (const [index, pauseMs] of pauses.entries()) {
      const delayMs = Math.min(1_000 * 2 ** index, 60_000);
      expect(pauseMs).toBeGreaterThanOrEqual(0.75 * delayMs);
      expect(pauseMs).toBeLessThanOrEqual(delayMs);
    }
    expect(pauses.length).toBeGreaterThan(8);
    expect(statuses.find(({ state }) => state === 'retrying')?.reason).toBe(
      'The source sent nothing for 15 s. Check that it is on.',
    );
    await supervisor.stop();
    const count = attempts.length;
    await vi.advanceTimersByTimeAsync(120_000);
    expect(attempts).toHaveLength(count);
  });

  it('that never finishes to connect is ended after 15 s', async () => {
    const { supervisor, attempts, statuses } = await start(
      (_, signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted'))),
        ),
    );
    await vi.advanceTimersByTimeAsync(15_000);
    expect(statuses.at(-1)).toMatchObject({
      state: 'retrying',
      reason: expect.stringMatching(/sent nothing/),
    });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(attempts).toHaveLength(2);
    await supervisor.stop();
  });

  it('that sends a byte each second, but no frame, is ended after 30 s', async () => {
    let drip: NodeJS.Timeout | undefined;
    const { supervisor, attempts, statuses } = await start(({ bytes }) => {
      drip = setInterval(() => bytes(Buffer.alloc(1)), 1_000);
    });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(attempts[0]!.stoppedAtMs! - attempts[0]!.atMs).toBe(30_000);
    expect(statuses.at(-1)).toMatchObject({
      state: 'retrying',
      nextAttemptAtMs: expect.any(Number),
      reason: expect.stringMatching(/sends no video or audio/),
    });
    clearInterval(drip);
    await supervisor.stop();
  });

  it('that cannot wait keeps its media while the broadcast pauses it, and is not taken for silent', async () => {
    let events: PullEvents | undefined;
    const { supervisor, statuses, received, closed, publisher } = await start(given => {
      events = given;
      given.media(1, emit => emit(frame));
    });
    expect(statuses.at(-1)).toEqual({ state: 'live' });
    publisher().pause();
    events!.media(1, emit => emit(frame));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(received).toHaveLength(1);
    publisher().resume();
    expect(received).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(14_999);
    expect(closed).toEqual([]);
    publisher().close('text', 'idle-timeout');
    await vi.advanceTimersByTimeAsync(0);
    expect(closed).toEqual(['connection-closed']);
    expect(statuses.at(-1)?.reason).toMatch(/sends no video or audio/);
    await supervisor.stop();
  });
});
