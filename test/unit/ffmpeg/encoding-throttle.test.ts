import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EncodingThrottle } from '../../../src/ffmpeg/encoding-throttle.ts';
import { fakedClock } from '../../support/faked-clock.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

function gateWithLog() {
  const log: string[] = [];
  const startedAtMs = performance.now();
  const note = (what: string) => log.push(`${what} ${performance.now() - startedAtMs}`);
  const gate = new EncodingThrottle({
    pause: () => note('pause'),
    resume: () => note('resume'),
    clock: fakedClock,
  });
  /** Parts of `lagMs`, one every 200 ms. */
  const parts = (count: number, lagMs: number) => {
    for (let part = 0; part < count; part++) {
      gate.notePartLag(lagMs);
      vi.advanceTimersByTime(200);
    }
  };
  return { gate, log, parts };
}

test('five late parts within two seconds pause encoding, and five seconds without one let it go on', () => {
  const { gate, log, parts } = gateWithLog();
  parts(4, 501);
  expect(gate.isPaused).toBe(false);
  parts(1, 501);
  expect(gate.isPaused).toBe(true);
  parts(50, 100);
  expect(log).toEqual(['pause 800', 'resume 5800']);
});

test('parts that are in time, or late ones now and then, pause nothing', () => {
  const { log, parts } = gateWithLog();
  parts(100, 500);
  for (let round = 0; round < 20; round++) {
    parts(3, 900);
    parts(10, 20);
  }
  expect(log).toEqual([]);
});

test('late parts during the pause make it longer', () => {
  const { log, parts } = gateWithLog();
  parts(20, 700);
  parts(60, 10);
  expect(log).toEqual(['pause 800', 'resume 8800']);
});

test('encoding gets at least a tenth of the time when parts are late for ever', () => {
  const { gate, log, parts } = gateWithLog();
  parts(600, 5_000);
  gate.stop();
  const times = log.map(entry => Number(entry.split(' ')[1]));
  expect(log.slice(0, 4)).toEqual(['pause 800', 'resume 18800', 'pause 20800', 'resume 38800']);
  let pausedMs = 0;
  for (let pause = 0; pause < times.length; pause += 2) pausedMs += times[pause + 1]! - times[pause]!;
  expect(pausedMs / 120_000).toBeLessThanOrEqual(0.9);
});

test('stopping it lets encoding go on and leaves no timer', () => {
  const { gate, log, parts } = gateWithLog();
  parts(5, 800);
  gate.stop();
  gate.stop();
  expect(log).toEqual(['pause 800', 'resume 1000']);
  expect(vi.getTimerCount()).toBe(0);
});
