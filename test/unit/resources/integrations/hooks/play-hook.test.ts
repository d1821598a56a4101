import { beforeEach, expect, test } from 'vitest';
import type { Hook } from '../../../../../src/events/hooks/hook.ts';
import type { HookAnswer } from '../../../../../src/events/hooks/hook-answer.ts';
import type { HookQuestion } from '../../../../../src/events/hooks/hook-caller.ts';
import { PlayHook } from '../../../../../src/resources/integrations/hooks/play-hook.ts';

const hook: Hook = {
  hookId: 'hook_1',
  projectId: 'pr1',
  url: 'https://hooks.example.net',
  timeoutMs: 5_000,
  signatureSecret: 'sig_sec_1',
  createdAtMs: 0,
  kind: 'play',
  onFailure: 'refuse',
};
const question = {
  projectId: 'pr1',
  resourceId: 'li1',
  token: undefined,
  client: 'a browser',
  viewer: undefined,
  remoteAddress: '192.0.2.1',
  userAgent: 'Browser',
  referer: '',
  query: '',
  isOwner: () => false as const,
};

let nowMs: number;
let answer: HookAnswer;
let asked: HookQuestion[];
let plays: PlayHook;
beforeEach(() => {
  nowMs = 0;
  answer = { kind: 'allowed', fields: {} };
  asked = [];
  plays = new PlayHook({
    store: { find: async () => hook },
    caller: {
      ask: async (_, next) => {
        asked.push(next);
        return answer;
      },
    },
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
  });
});

test('the owner is not asked about, and others are', async () => {
  answer = { kind: 'refused', message: 'No.' };
  expect(await plays.decide({ ...question, isOwner: async () => true })).toEqual({
    isAsked: true,
    refusal: undefined,
  });
  expect(asked).toEqual([]);
  expect(await plays.decide({ ...question, isOwner: async () => false })).toMatchObject({ refusal: 'No.' });
  expect(asked).toHaveLength(1);
});

test('a session lasts while its viewer comes back within five minutes', async () => {
  for (let count = 0; count < 5; count++) {
    expect(await plays.decide(question)).toEqual({ isAsked: true, refusal: undefined });
    nowMs += 299_000;
  }
  expect(asked).toHaveLength(1);
  nowMs += 301_000;
  await plays.decide(question);
  expect(asked).toHaveLength(2);
});

test('a ttl asks again, with the query of the session', async () => {
  answer = { kind: 'allowed', fields: { ttl: 60 } };
  await plays.decide({ ...question, query: 'ticket=7&token=secret' });
  nowMs += 59_000;
  await plays.decide({ ...question, query: '_HLS_msn=4' });
  expect(asked).toHaveLength(1);
  nowMs += 1_000;
  await plays.decide({ ...question, query: '_HLS_msn=5' });
  expect(asked.map(({ payload }) => payload.query)).toEqual(['ticket=7', 'ticket=7']);
});

test.each([0, -1, Number.NaN, '60', 1e9])('a ttl of %s is bounded or ignored', async ttl => {
  answer = { kind: 'allowed', fields: { ttl } };
  await plays.decide(question);
  expect(await plays.decide(question)).toEqual({ isAsked: true, refusal: undefined });
  expect(asked).toHaveLength(1);
});

test('requests that come meanwhile share a question, and other viewers, videos and tokens do not', async () => {
  await Promise.all(Array.from({ length: 100 }, () => plays.decide(question)));
  expect(asked).toHaveLength(1);
  await plays.decide({ ...question, client: 'another browser' });
  await plays.decide({ ...question, resourceId: 'vi1' });
  await plays.decide({ ...question, token: 'a token' });
  expect(asked.map(({ payload }) => payload.videoId ?? payload.liveStreamId)).toEqual([
    ...['li1', 'li1', 'vi1', 'li1'],
  ]);
});

test('a refusal is kept for ten seconds, for the same query', async () => {
  answer = { kind: 'refused', message: 'No.' };
  expect(await plays.decide(question)).toEqual({ isAsked: true, refusal: 'No.' });
  await plays.decide(question);
  expect(asked).toHaveLength(1);
  await plays.decide({ ...question, query: 'ticket=7' });
  expect(asked).toHaveLength(2);
  answer = { kind: 'allowed', fields: {} };
  nowMs += 10_000;
  expect(await plays.decide(question)).toEqual({ isAsked: true, refusal: undefined });
});
