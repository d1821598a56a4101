import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type {
  PlaybackUpdate,
  StoredPlayback,
} from '../../../../../src/resources/analytics/reports/analytics-writes.store.ts';
import { type CounterName, counterNames } from '../../../../../src/resources/analytics/reports/playback.ts';
import { PlaybackTracker } from '../../../../../src/resources/analytics/reports/playback-tracker.ts';
import { silentLogger } from '../../../../../src/shared/logger.ts';

const startMs = Date.UTC(2026, 2, 4, 12, 0, 0);
const sender = { address: '127.0.0.1', userAgent: 'x' };

/** A database with the rules of the real one, in memory. */
class StoredPlaybacks {
  readonly rows = new Map<string, StoredPlayback>();
  /** Ends of viewing intervals by playback and first slot. */
  readonly ends = new Map<string, number>();
  readonly counts = new Map<CounterName, number>();
  rowsWritten = 0;
  writes = 0;
  sumsWrites = 0;
  isDown = false;
  areSumsDown = false;
  /** Time that a write takes. */
  writeMs = 0;

  find = async (key: Buffer) => this.rows.get(key.toString('latin1'));
  saltOf = async () => Buffer.alloc(32);
  writeSums = async () => {
    if (this.areSumsDown) throw new Error('down');
    this.sumsWrites += 1;
  };
  write = async (updates: readonly PlaybackUpdate[], nowMs: number) => {
    if (this.isDown) throw new Error('down');
    if (this.writeMs > 0) await new Promise(resolve => setTimeout(resolve, this.writeMs));
    this.writes += 1;
    const written = new Map<string, number | 'changed'>();
    for (const { key, state, stored, progress, counts, intervals } of updates) {
      const name = key.toString('latin1');
      const row = this.rows.get(name);
      const isAsKnown = stored === undefined ? row === undefined : isSame(row?.state, stored.state);
      if (!isAsKnown) {
        written.set(name, 'changed');
        continue;
      }
      const number = row?.number ?? this.rows.size + 1;
      this.rows.set(name, { number, state: { ...state }, progress, touchedAtMs: nowMs });
      this.rowsWritten += 1;
      written.set(name, number);
      for (const counted of counts.values()) {
        for (const [index, counter] of counterNames.entries())
          this.counts.set(counter, (this.counts.get(counter) ?? 0) + counted[index]!);
      }
      for (const { firstSlot, endSlot, replacesEnd } of intervals) {
        const end = this.ends.get(`${number} ${firstSlot}`) ?? 0;
        this.ends.set(`${number} ${firstSlot}`, replacesEnd ? endSlot : Math.max(end, endSlot));
      }
    }
    return written;
  };
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

const clock = { nowMs: () => Date.now(), monotonicMs: () => Date.now() };

function trackerOn(writes: StoredPlaybacks, options: { isShared?: boolean; maxKeptEvents?: number } = {}) {
  return new PlaybackTracker({
    writes,
    geo: { load: async () => {}, locate: () => ({ country: '', continent: '' }) },
    findMedia: async () => ({ projectId: 'pr', type: 'live-stream' }),
    viewerOf: async () => undefined,
    reportsPerMinute: 0,
    isShared: true,
    clock,
    log: { ...silentLogger, child: () => silentLogger },
    ...options,
  });
}

/** Sends the report of a player that has played for so many seconds. */
function send(tracker: PlaybackTracker, playbackId: string, second: number): Promise<void> {
  const event = (type: 'loaded' | 'play' | 'timeupdate') => ({
    type,
    clientMs: second * 1_000,
    atMs: Date.now(),
    position: second,
    isPaused: false,
  });
  const events = second === 0 ? [event('loaded'), event('play')] : [event('timeupdate')];
  return tracker.handle(
    { mediaId: 'li1', playbackId, referrer: '', token: '', events, sentMs: undefined },
    sender,
  );
}

beforeEach(() => {
  vi.useFakeTimers({ now: startMs });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the playbacks of a server that shares its database', () => {
  it('are written soon while they are few', async () => {
    const stored = new StoredPlaybacks();
    const tracker = trackerOn(stored);
    await send(tracker, 'one', 0);
    await vi.advanceTimersByTimeAsync(200);
    expect(stored.counts.get('plays')).toBe(1);
    await vi.advanceTimersByTimeAsync(4_800);
    await send(tracker, 'one', 5);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(stored.counts.get('watch_ms')).toBe(5_000);
    await tracker.stop();
  });

  it('are written each less often when they are many, and viewers who leave are corrected', async () => {
    const stored = new StoredPlaybacks();
    const tracker = trackerOn(stored);
    const viewers = 3_000;
    for (let second = 0; second <= 120; second += 5) {
      // The first one leaves.
      for (let viewer = second > 40 ? 1 : 0; viewer < viewers; viewer += 1)
        await send(tracker, `${viewer}`, second);
      await vi.advanceTimersByTimeAsync(5_000);
    }
    // One write every 18 s, and one of each new playback.
    expect(stored.rowsWritten).toBeLessThan(viewers * 10);
    await tracker.stop();
    expect(stored.counts.get('plays')).toBe(viewers);
    expect(stored.counts.get('watch_ms')).toBe((viewers - 1) * 120_000 + 40_000);
    const first = startMs / 10_000;
    const ends = [...stored.ends.values()].map(end => end - first);
    expect([Math.min(...ends), Math.max(...ends)]).toEqual([4, 12]);
    expect(ends.filter(end => end === 4)).toHaveLength(1);
  });

  it('are counted once when their reports reach two servers in turn, before either writes', async () => {
    const stored = new StoredPlaybacks();
    const servers = [trackerOn(stored), trackerOn(stored)];
    for (let second = 0; second <= 40; second += 5) {
      await send(servers[(second / 5) % 2]!, 'one', second);
      // Each report twice: to both.
      await send(servers[(second / 5 + 1) % 2]!, 'one', second);
    }
    for (const server of servers) await server.stop();
    const names: CounterName[] = ['impressions', 'plays', 'starts', 'views30', 'watch_ms'];
    expect(names.map(name => stored.counts.get(name))).toEqual([1, 1, 1, 1, 40_000]);
  });

  it('go on at another server after a crash, which loses only what was not written', async () => {
    const stored = new StoredPlaybacks();
    const lost = trackerOn(stored);
    await send(lost, 'one', 0);
    await send(lost, 'one', 5);
    await lost.flush();
    await send(lost, 'one', 10);
    const next = trackerOn(stored);
    await vi.advanceTimersByTimeAsync(500);
    stored.isDown = true;
    await vi.advanceTimersByTimeAsync(10_000);
    stored.isDown = false;
    await send(next, 'one', 15);
    await next.stop();
    expect(stored.counts.get('watch_ms')).toBe(15_000);
    expect(stored.counts.get('plays')).toBe(1);
  });

  it('are left to other servers in a drain', async () => {
    const stored = new StoredPlaybacks();
    const draining = trackerOn(stored);
    await send(draining, 'one', 0);
    await send(draining, 'one', 5);
    await draining.drain();
    expect(stored.counts.get('watch_ms')).toBe(5_000);
    expect(draining.openCount).toBe(0);
    const next = trackerOn(stored);
    await send(next, 'one', 10);
    await next.stop();
    expect(stored.counts.get('watch_ms')).toBe(10_000);
    await draining.stop();
  });

  it('are kept while the database cannot be used, and no report is refused', async () => {
    const stored = new StoredPlaybacks();
    const tracker = trackerOn(stored, { maxKeptEvents: 20 });
    await send(tracker, 'one', 0);
    await tracker.flush();
    stored.isDown = true;
    for (let second = 5; second <= 1_000; second += 5) {
      await send(tracker, 'one', second);
      await vi.advanceTimersByTimeAsync(5_000);
    }
    stored.isDown = false;
    await tracker.stop();
    expect(stored.counts.get('watch_ms')).toBe(1_000_000);
  });

  it('are kept while writes take much longer than reports, and no flush waits behind another', async () => {
    const stored = new StoredPlaybacks();
    stored.writeMs = 20_000;
    const tracker = trackerOn(stored, { maxKeptEvents: 1_000 });
    const viewers = 500;
    for (let second = 0; second <= 300; second += 5) {
      for (let viewer = 0; viewer < viewers; viewer += 1) await send(tracker, `${viewer}`, second);
      await vi.advanceTimersByTimeAsync(5_000);
    }
    // Three batches of a flush take a minute.
    expect(stored.writes).toBeLessThanOrEqual(1 + 305 / 20);
    expect(stored.sumsWrites).toBeLessThanOrEqual(6);
    stored.writeMs = 0;
    await vi.advanceTimersByTimeAsync(60_000);
    await tracker.stop();
    expect(stored.counts.get('plays')).toBe(viewers);
    expect(stored.counts.get('watch_ms')).toBe(viewers * 300_000);
  });

  it('write the counts that are common to many again when that failed', async () => {
    const stored = new StoredPlaybacks();
    const tracker = trackerOn(stored);
    stored.areSumsDown = true;
    await send(tracker, 'one', 0);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(stored.sumsWrites).toBe(0);
    stored.areSumsDown = false;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(stored.sumsWrites).toBeGreaterThan(0);
    const { sumsWrites } = stored;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(stored.sumsWrites).toBe(sumsWrites);
    await tracker.stop();
  });

  it('keep few reports without events', async () => {
    const stored = new StoredPlaybacks();
    const tracker = trackerOn(stored, { maxKeptEvents: 10 });
    await send(tracker, 'one', 0);
    for (let count = 0; count < 1_000; count += 1)
      await tracker.handle(
        { mediaId: 'li1', playbackId: 'one', referrer: '', token: '', events: [], sentMs: undefined },
        sender,
      );
    expect(tracker.keptEvents).toBeLessThanOrEqual(10);
    await tracker.stop();
  });
});
