import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ClipEndpoint } from '../../../../src/delivery/clips/clip-endpoint.ts';
import type { PlaybackGate } from '../../../../src/delivery/playback-gate.ts';
import type { SignalingRequest } from '../../../../src/webrtc/signaling.ts';
import { fakedClock } from '../../../support/faked-clock.ts';

const liveStreamId = `li${'a'.repeat(22)}`;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function createEndpoint(create: () => Promise<void> = async () => {}) {
  const endpoint = new ClipEndpoint({
    clock: fakedClock,
    streams: {
      find: async () => ({ projectId: 'pr1', name: 'A stream', public: true, viewerClips: true }),
      thumbnailPath: async () => undefined,
    },
    playback: {
      admit: () => ({ access: undefined, headers: [], policies: [] }),
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
  const clip = (remoteAddress: string) =>
    endpoint.handle({
      ...{ method: 'POST', path: `/clips/${liveStreamId}`, query: '', contentType: 'application/json' },
      ...{ remoteAddress, body: '{"lastSeconds":30}' },
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
  const running = ['192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4'].map(clip);
  await expect(clip('192.0.2.5')).rejects.toMatchObject({
    code: 'not-ready',
    details: { retryAfterSeconds: 2 },
  });
  release();
  await Promise.all(running);
  expect(await clip('192.0.2.5')).toMatchObject({ status: 201 });
});
