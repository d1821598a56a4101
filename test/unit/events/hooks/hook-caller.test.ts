import { beforeEach, expect, test } from 'vitest';
import type { Hook } from '../../../../src/events/hooks/hook.ts';
import { HookCaller, type HookQuestion } from '../../../../src/events/hooks/hook-caller.ts';
import type { WebhookResponse } from '../../../../src/events/webhooks/webhook-sender.ts';

const maxRunning = 32;
const maxWaiting = 1_000;
const hookOf = (hookId: string): Hook => ({
  hookId,
  projectId: 'pr1',
  kind: 'publish',
  url: `https://${hookId}.example`,
  timeoutMs: 5_000,
  signatureSecret: 'sig_sec_1',
  onFailure: 'refuse',
  createdAtMs: 0,
});
const question: HookQuestion = {
  subjectId: 'li1',
  remoteAddress: '192.0.2.1',
  payload: {},
  signal: new AbortController().signal,
};
const allowed: WebhookResponse = { statusCode: 200, error: undefined, response: '' };

let nowMs: number;
let sent: { readonly timeoutMs: number | undefined; readonly answer: (response: WebhookResponse) => void }[];
let caller: HookCaller;
beforeEach(() => {
  nowMs = 0;
  sent = [];
  caller = new HookCaller({
    sender: {
      send: ({ timeoutMs }) => new Promise(answer => sent.push({ timeoutMs, answer })),
    },
    results: { add: () => {} },
    observer: { requested: () => {} },
    version: '1',
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs },
  });
});

/** Lets all that can go on go on. */
const settle = () => new Promise<void>(resolve => setImmediate(resolve));

test('a hook gets so many requests at once, the next ones wait, and further ones fail at once', async () => {
  const hook = hookOf('hook1');
  const answers = Array.from({ length: maxRunning + maxWaiting }, () => caller.ask(hook, question));
  await settle();
  expect(sent).toHaveLength(maxRunning);
  expect(await caller.ask(hook, question)).toMatchObject({ kind: 'failed' });
  const other = caller.ask(hookOf('hook2'), question);
  await settle();
  expect(sent).toHaveLength(maxRunning + 1);
  for (let index = 0; index < sent.length; index += 1) {
    sent[index]!.answer(allowed);
    await settle();
  }
  expect(sent).toHaveLength(maxRunning + maxWaiting + 1);
  for (const answer of [...answers, other]) expect((await answer).kind).toBe('allowed');
});

test('the wait for other requests counts as time without an answer', async () => {
  const hook = hookOf('hook1');
  const answers = Array.from({ length: maxRunning + 2 }, () => caller.ask(hook, question));
  await settle();
  nowMs = 3_000;
  sent[0]!.answer(allowed);
  await settle();
  expect(sent.at(-1)!.timeoutMs).toBe(2_000);
  nowMs = 6_000;
  sent[1]!.answer(allowed);
  expect(await answers.at(-1)).toMatchObject({ kind: 'failed' });
  expect(sent).toHaveLength(maxRunning + 1);
});

test('an answer that cannot be followed refuses, with the reason', async () => {
  const findFault = async ({ liveStreamId }: Readonly<Record<string, unknown>>) =>
    liveStreamId === 'li2' ? 'There is no li2.' : undefined;
  const ask = async (response: string) => {
    const answer = caller.ask(hookOf('hook1'), { ...question, findFault });
    await settle();
    sent.at(-1)!.answer({ ...allowed, response });
    return answer;
  };
  expect(await ask('{"liveStreamId":"li2"}')).toEqual({
    kind: 'refused',
    message: 'There is no li2.',
    error: { code: 'response-unusable', text: 'There is no li2.' },
  });
  expect(await ask('{"liveStreamId":"li1"}')).toMatchObject({ kind: 'allowed' });
});
