import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CutOffPublisher } from '../../../../src/live/broadcast/ports.ts';
import { encodeAmf0 } from '../../../support/amf0.ts';
import { publish, startFakeBroadcasts } from '../../../support/fake-broadcasts.ts';

const cutOffText = 'closed: The broadcast was ended on the server.';
const refused = { accepted: false, reason: 'broadcast-ended', description: expect.any(String) };

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A broadcast that was completed while its publisher was connected. */
async function completed() {
  const fake = startFakeBroadcasts();
  const publisher = await publish(fake.live);
  await fake.live.complete('li1');
  return { ...fake, publisher };
}

test('a publisher is disconnected with the reason, and refused until it has stayed away for a minute', async () => {
  const { live, publisher, ends } = await completed();
  expect(publisher.told).toEqual([cutOffText]);
  expect(ends).toEqual(['completed']);
  expect((await publish(live)).answer).toEqual(refused);
  await vi.advanceTimersByTimeAsync(20_000);
  expect((await publish(live)).answer).toEqual(refused);
  await vi.advanceTimersByTimeAsync(59_999);
  expect((await publish(live)).answer).toEqual(refused);
  await vi.advanceTimersByTimeAsync(2 * 59_999);
  expect((await publish(live)).answer).toMatchObject({ accepted: true });
});

test('a publisher that comes back once is accepted a minute later', async () => {
  const { live } = await completed();
  await vi.advanceTimersByTimeAsync(2000);
  expect((await publish(live)).answer).toEqual(refused);
  await vi.advanceTimersByTimeAsync(60_000);
  expect((await publish(live)).answer).toMatchObject({ accepted: true });
});

test('an encoder that waits longer before each attempt stays refused', async () => {
  const { live } = await completed();
  // Waits as OBS does.
  for (let waitMs = 2000; waitMs < 15 * 60_000; waitMs *= 1.5) {
    await vi.advanceTimersByTimeAsync(waitMs);
    expect((await publish(live)).answer).toEqual(refused);
  }
});

test.each([
  ['another encoder', { encoder: 'other' }],
  ['an encoder with another address', { remoteAddress: '192.0.2.2' }],
])('%s may publish at once, and the first one may not take it over', async (_, changes) => {
  const { live } = await completed();
  const other = await publish(live, changes);
  expect(other.answer).toMatchObject({ accepted: true });
  expect((await publish(live)).answer).toEqual(refused);
  expect(other.told).toEqual([]);
});

test.each(['unpublished', 'connection-closed'])(
  'a publisher that had left before may publish at once (%s)',
  async reason => {
    const { live, packagers } = startFakeBroadcasts();
    const publisher = await publish(live);
    publisher.close(reason);
    expect(packagers).toEqual([]);
    await live.complete('li1');
    expect((await publish(live)).answer).toMatchObject({ accepted: true });
  },
);

test('a source that is pulled is disconnected, and pulled again', async () => {
  const { live } = startFakeBroadcasts();
  const pull = await publish(live, { protocol: 'pull' });
  await live.complete('li1');
  expect(pull.told).toEqual([cutOffText]);
  expect((await publish(live, { protocol: 'pull' })).answer).toMatchObject({ accepted: true });
});

test('an encoder is stored with the name in its media, and recognized by the one that it connects with', async () => {
  const stored: CutOffPublisher[] = [];
  const { live } = startFakeBroadcasts({ storeCutOff: async (_, publisher) => void stored.push(publisher) });
  const publisher = await publish(live, { encoder: 'FMLE/3.0 (compatible; FMSc/1.0)' });
  const body = encodeAmf0('onMetaData', { encoder: 'obs-output module (libobs version 29.0.2)' });
  publisher.send({ kind: 'script', timestampMs: 0, body });
  await live.complete('li1');
  expect(stored).toMatchObject([{ encoder: 'FMLE/3.0 (compatible; FMSc/1.0)', name: 'OBS 29.0.2' }]);
});

test('a database that does not answer does not keep the publisher connected', async () => {
  const { live } = startFakeBroadcasts({ storeCutOff: () => new Promise(() => {}) });
  const publisher = await publish(live);
  const completing = live.complete('li1');
  await vi.advanceTimersByTimeAsync(2000);
  await completing;
  expect(publisher.told).toEqual([cutOffText]);
});
