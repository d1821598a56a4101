import { expect, test } from 'vitest';
import type { ApiKeyPair, LiveStream, Usage } from '../../../../../src/web/dashboard/api/api-types.ts';
import { liveNowStreams, unlistedIds } from '../../../../../src/web/dashboard/broadcasts/live-now-streams.ts';
import { completedSteps } from '../../../../../src/web/dashboard/pages/overview/completed-steps.ts';
import { formatQueue } from '../../../../../src/web/dashboard/pages/server/queue-text.ts';
import { storageShares } from '../../../../../src/web/dashboard/pages/usage/storage-kinds.ts';

const stream = (liveStreamId: string, broadcasting: boolean) =>
  ({ liveStreamId, broadcasting }) as LiveStream;

test('on air is what the list or the feed says, each once', () => {
  const streams = [stream('a', true), stream('b', false), stream('c', false), stream('a', true)];
  const liveNow = liveNowStreams(streams, new Map([['c', 'told']]));
  expect(liveNow.map(one => [one.stream.liveStreamId, one.stats])).toEqual([
    ['a', undefined],
    ['c', 'told'],
  ]);
});

test('asks for the names of live streams that only the feed tells of', () => {
  expect(unlistedIds([stream('a', true)], new Map(['a', 'z'].map(id => [id, 1])))).toEqual(['z']);
});

test('first steps are ticked off by what was done', () => {
  const pair: ApiKeyPair = {
    keyPairId: 'kp',
    scopes: ['read'],
    createdAt: '2026-03-04T05:06:07+00:00',
    sandbox: { createdAt: '2026-03-04T05:06:07+00:00' },
  };
  const used: ApiKeyPair = { ...pair, sandbox: { ...pair.sandbox!, lastUsedAt: pair.createdAt } };
  const video = (type: 'upload' | 'liveStream', kind = 'encoding') => ({
    video: { source: { type, uri: '' } },
    state: { kind },
  });
  const none = { liveNow: [], hasBroadcast: false, videos: [], keyPairs: [pair] };
  expect(completedSteps(none)).toEqual({ live: false, video: false, key: false });
  expect(completedSteps({ ...none, liveNow: [{}] }).live).toBe(true);
  expect(completedSteps({ ...none, hasBroadcast: true }).live).toBe(true);
  expect(completedSteps({ ...none, videos: [video('liveStream')] })).toEqual({
    live: true,
    video: false,
    key: false,
  });
  expect(completedSteps({ ...none, videos: [video('upload')] }).video).toBe(true);
  expect(completedSteps({ ...none, videos: [video('upload', 'empty')] }).video).toBe(false);
  expect(completedSteps({ ...none, keyPairs: [used] }).key).toBe(true);
  expect(completedSteps({ ...none, keyPairs: [pair, pair] }).key).toBe(true);
});

test('storage is told by the kinds that there are, the largest first', () => {
  const storage: Usage['storage'] = {
    totalBytes: 60,
    sourceBytes: 10,
    recordingBytes: 0,
    hlsBytes: 20,
    mp4Bytes: 0,
    imageBytes: 25,
    textBytes: 5,
  };
  expect(storageShares(storage).map(({ name, bytes }) => [name, bytes])).toEqual([
    ['Thumbnails and captions', 30],
    ['Renditions', 20],
    ['Uploads', 10],
  ]);
});

test.each([
  [{ running: 0, waiting: 0, failedToday: 0, isPaused: false }, 'Idle'],
  [{ running: 1, waiting: 3, failedToday: 0, isPaused: false }, '1 running, 3 waiting'],
  [
    { running: 0, waiting: 3, failedToday: 2, isPaused: true },
    '3 waiting, paused while live streams need the CPU; 2 failed today',
  ],
])('work is told in words: %o', (queue, words) => {
  expect(formatQueue(queue)).toBe(words);
});
