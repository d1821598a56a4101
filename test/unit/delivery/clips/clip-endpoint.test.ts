import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ClipEndpoint } from '../../../../src/delivery/clips/clip-endpoint.ts';
import type { PlaybackGate } from '../../../../src/delivery/playback-gate.ts';
import { AppError } from '../../../../src/shared/errors.ts';
import type { SignalingRequest } from '../../../../src/shared/network/signaling.ts';
import { closedStream } from '../../../support/closed-stream.ts';
import { fakedClock } from '../../../support/faked-clock.ts';

const liveStreamId = `li${'a'.repeat(22)}`;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Viewer {
  readonly viewer?: string;
  readonly token?: string;
}

function createEndpoint(create: () => Promise<void> = async () => {}, viewerOf: () => Viewer = () => ({})) {
  const endpoint = new ClipEndpoint({
    clock: fakedClock,
    streams: {
      find: async () => ({
        ...closedStream,
        projectId: 'pr1',
        name: 'A stream',
        public: true,
        viewerClips: true,
      }),
      thumbnailPath: async () => undefined,
    },
    playback: {
      admit: () => {
        const { viewer, token } = viewerOf();
        const access = token === undefined ? undefined : { token, avh: undefined };
        return { access, headers: [], policies: [], viewer };
      },
    } as unknown as PlaybackGate,
    live: {
      current: () => undefined,
      find: () => undefined,
      state: () => ({ live: true }),
      onStateChange: () => () => {},
    },
    createClip: async () => {
      await create();
      return { videoId: 'vi1', url: '/vod/vi1' };
    },
  });
  const clip = (remoteAddress: string, lastSeconds = 30) =>
    endpoint.handle({
      message: { method: 'POST', headers: {} },
      method: 'POST',
      path: `/clips/${liveStreamId}`,
      query: '',
      contentType: 'application/json',
      remoteAddress,
      body: JSON.stringify({ lastSeconds }),
    } as SignalingRequest);
  return clip;
}

test('all viewers together are limited by the hour', async () => {
  const clip = createEndpoint();
  for (let viewer = 0; viewer < 60; viewer++) {
    expect(await clip(`192.0.2.${viewer}`)).toMatchObject({ status: 201 });
  }
  await expect(clip('192.0.2.99')).rejects.toMatchObject({
    code: 'too-many-requests',
    details: { retryAfterSeconds: 3600 },
  });
  vi.advanceTimersByTime(3_600_000);
  expect(await clip('192.0.2.99')).toMatchObject({ status: 201 });
});

test('a viewer is an address, or a network of IPv6', async () => {
  const clip = createEndpoint();
  for (const address of ['2001:db8::1', '2001:db8::2', '2001:db8::3']) {
    expect(await clip(address)).toMatchObject({ status: 201 });
  }
  await expect(clip('2001:db8::4')).rejects.toMatchObject({ code: 'too-many-requests' });
  expect(await clip('2001:db8:0:1::1')).toMatchObject({ status: 201 });
});

test('few clips are created at once', async () => {
  let release = () => {};
  const released = new Promise<void>(resolve => {
    release = resolve;
  });
  const clip = createEndpoint(() => released);
  const running = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'].map(address => clip(address));
  await expect(clip('192.0.2.5')).rejects.toMatchObject({
    code: 'not-ready',
    details: { retryAfterSeconds: 2 },
  });
  release();
  await Promise.all(running);
  expect(await clip('192.0.2.5')).toMatchObject({ status: 201 });
});

test.each([
  ['an address', () => '192.0.2.1', () => ({})],
  ['a network of IPv6', (attempt: number) => `2001:db8::${attempt}`, () => ({})],
  [
    'whom a signed token names',
    (attempt: number) => `192.0.2.${attempt}`,
    (attempt: number) => ({ viewer: 'anna', token: `a.${attempt}.c` }),
  ],
  [
    'with a token that is signed again, or whose signature is written in another way',
    (attempt: number) => `192.0.2.${attempt}`,
    (attempt: number) => ({ token: `a.b.${attempt}` }),
  ],
  ['with a token', (attempt: number) => `192.0.2.${attempt}`, () => ({ token: 'a.b.c' })],
])('a viewer, %s, gets 300 s of a live stream in an hour', async (_what, addressOf, viewerOf) => {
  let attempt = 0;
  const clip = createEndpoint(undefined, () => viewerOf(attempt));
  const next = (seconds: number) => {
    attempt += 1;
    vi.advanceTimersByTime(61_000);
    return clip(addressOf(attempt), seconds);
  };
  for (const seconds of [60, 60, 60, 60]) expect(await next(seconds)).toMatchObject({ status: 201 });
  expect(await next(50.5)).toMatchObject({ status: 201 });
  await expect(next(10)).rejects.toMatchObject({
    code: 'too-many-requests',
    details: { detail: expect.stringContaining('9 s are left'), retryAfterSeconds: 3_600 - 5 * 61 },
  });
  expect(await next(9)).toMatchObject({ status: 201 });
  vi.advanceTimersByTime(3_600_000);
  expect(await next(60)).toMatchObject({ status: 201 });
});

test('seconds of a clip that could not be created yet are not counted', async () => {
  const clip = createEndpoint(async () => {
    throw new AppError('live-stream-not-broadcasting');
  });
  for (let attempt = 0; attempt < 10; attempt++) {
    await expect(clip('192.0.2.1', 60)).rejects.toMatchObject({ code: 'live-stream-not-broadcasting' });
  }
});
