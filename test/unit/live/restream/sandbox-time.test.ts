import { expect, it } from 'vitest';
import { SandboxTime } from '../../../../src/live/restream/sandbox-time.ts';

const target = (streamKey: string, change: object = {}) => ({
  name: 'Mirror',
  serverUrl: 'rtmp://mirror.example.net/app',
  streamKey,
  ...change,
});

function startSandboxTime() {
  const clock = { now: 0, nowMs: () => 0, monotonicMs: () => clock.now };
  return { clock, time: new SandboxTime(1_000, clock) };
}

it('counts from the first time live, whatever is changed about the target afterwards', () => {
  const { clock, time } = startSandboxTime();
  clock.now = 5_000;
  expect([time.isOver(target('one')), time.leftMs(target('one'))]).toEqual([false, 1_000]);
  clock.now = 5_400;
  expect(time.leftMs(target('one', { name: 'Other', rendition: '720p' }))).toBe(600);
  expect(time.leftMs(target('two'))).toBe(1_000);
  clock.now = 6_000;
  expect([time.isOver(target('one')), time.leftMs(target('one'))]).toEqual([true, 0]);
  expect([time.isOver(target('two')), time.leftMs(target('two'))]).toEqual([false, 400]);
});

it('is over for new targets after five', () => {
  const { clock, time } = startSandboxTime();
  for (const key of ['1', '2', '3', '4']) expect(time.leftMs(target(key))).toBe(1_000);
  expect(time.isOver(target('5'))).toBe(false);
  clock.now = 100;
  expect(time.leftMs(target('5'))).toBe(1_000);
  expect([time.isOver(target('6')), time.leftMs(target('6'))]).toEqual([true, 0]);
  expect(time.leftMs(target('1'))).toBe(900);
});
