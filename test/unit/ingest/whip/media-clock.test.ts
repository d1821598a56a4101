import { expect, test } from 'vitest';
import { MediaClock } from '../../../../src/ingest/whip/media-clock.ts';

const report = (ntpMs: number, rtpTimestamp: number) => ({ ssrc: 1, ntpMs, ntpMiddle: 0, rtpTimestamp });

test('the first packet has the time of its arrival, and the others that of their timestamps', () => {
  const clock = new MediaClock(5_000);
  expect(clock.timeOf('audio', 48_000, 1_000, 5_000)).toBe(0);
  expect(clock.timeOf('audio', 48_000, 1_960, 5_090)).toBe(20);
  expect(clock.timeOf('video', 90_000, 0xffffff00, 5_040)).toBe(40);
  // The timestamp wraps.
  expect(clock.timeOf('video', 90_000, 0xffffff00 + 2_880 - 2 ** 32, 5_040)).toBe(72);
});

test('video is moved to where the sender reports place it, without running backwards', () => {
  const clock = new MediaClock(0);
  clock.timeOf('audio', 48_000, 0, 0);
  // Was captured together with the audio, and arrived 60 ms later.
  clock.timeOf('video', 90_000, 0, 60);
  clock.senderReport('audio', report(1_000_000, 0));
  clock.senderReport('video', report(1_000_000, 0));
  let last = 60;
  for (let frame = 1; frame <= 30; frame++) {
    const ms = clock.timeOf('video', 90_000, frame * 3_000, 60 + frame * 33);
    expect(ms).toBeGreaterThan(last + 25);
    last = ms;
  }
  expect(last).toBeCloseTo(1_000, -1);
});

test('a sender that starts over continues at the time of arrival', () => {
  const clock = new MediaClock(0);
  clock.timeOf('audio', 48_000, 0, 0);
  expect(clock.timeOf('audio', 48_000, 3_000_000_000, 1_000)).toBe(1_000);
  expect(clock.timeOf('audio', 48_000, 3_000_000_960, 1_020)).toBe(1_020);
});

test('reports of clocks that have nothing to do with each other are left out', () => {
  const clock = new MediaClock(0);
  clock.timeOf('audio', 48_000, 0, 0);
  clock.timeOf('video', 90_000, 0, 0);
  clock.senderReport('audio', report(0, 0));
  clock.senderReport('video', report(1e12, 0));
  expect(clock.timeOf('video', 90_000, 90_000, 1_000)).toBe(1_000);
});
