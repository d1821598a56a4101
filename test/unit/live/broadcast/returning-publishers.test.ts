import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { avc, publish, startFakeBroadcasts, videoTag } from '../../../support/fake-broadcasts.ts';

const replaced = ['closed: Another connection is publishing to this live stream.'];
const refused = { accepted: false, reason: 'already-publishing' };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

test('a publisher that returns before its stop was heard replaces itself', async () => {
  const { live, ends } = startFakeBroadcasts();
  const first = await publish(live);
  first.send(videoTag(0, avc.config()));
  const second = publish(live);
  await vi.advanceTimersByTimeAsync(1500);
  expect((await second).answer).toMatchObject({ accepted: true });
  expect(first.told).toEqual(replaced);
  expect(ends).toEqual([]);
});

test('a second encoder at the same address is refused as soon as the first one sends', async () => {
  const { live } = startFakeBroadcasts();
  const first = await publish(live);
  first.send(videoTag(0, avc.config()));
  const second = publish(live);
  await vi.advanceTimersByTimeAsync(900);
  first.send(videoTag(900, avc.config()));
  await vi.advanceTimersByTimeAsync(50);
  expect((await second).answer).toMatchObject(refused);
  expect(first.told).toEqual([]);
});

test('a publisher that has not begun to send is not replaced', async () => {
  const { live } = startFakeBroadcasts();
  const first = await publish(live);
  expect((await publish(live)).answer).toMatchObject(refused);
  expect(first.told).toEqual([]);
});

test('an encoder at another address is refused at once', async () => {
  const { live } = startFakeBroadcasts();
  const first = await publish(live);
  expect((await publish(live, { remoteAddress: '192.0.2.2' })).answer).toMatchObject(refused);
  expect(first.told).toEqual([]);
});

test('media that waited for its time in the receiver is no sign of a publisher over SRT', async () => {
  const { live } = startFakeBroadcasts();
  const transport = () => ({ roundTripMs: 1, packetsReceived: 10, packetsLost: 0, packetsRecovered: 0 });
  const first = await publish(live, { protocol: 'srt', transport });
  first.send(videoTag(0, avc.config()));
  const second = publish(live, { protocol: 'srt' });
  for (let atMs = 0; atMs < 1500; atMs += 100) {
    first.send(videoTag(atMs, avc.config()));
    await vi.advanceTimersByTimeAsync(100);
  }
  expect((await second).answer).toMatchObject({ accepted: true });
  expect(first.told).toEqual(replaced);
});

test('of two that return at once, one is accepted', async () => {
  const { live } = startFakeBroadcasts();
  const first = await publish(live);
  first.send(videoTag(0, avc.config()));
  const others = [publish(live), publish(live)];
  await vi.advanceTimersByTimeAsync(1500);
  const answers = (await Promise.all(others)).map(({ answer }) => answer.accepted);
  expect(answers).toEqual([true, false]);
});
