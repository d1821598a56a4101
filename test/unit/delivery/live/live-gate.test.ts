import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { LiveGate } from '../../../../src/delivery/live/live-gate.ts';
import type { ViewerRequest } from '../../../../src/delivery/responses/exchange.ts';
import { closedStream } from '../../../support/closed-stream.ts';
import { playbackGateOf } from '../../../support/playback-gate.ts';

const request = { headers: {}, socket: {} } as ViewerRequest;
const asked = { request, liveStreamId: 'li1', query: '', mayClaimToken: true, beginsPlayback: false };

/** A gate in front of one stream. Its answers come when `answer` is called. */
function gateOf(isPublic = true) {
  const time = { ms: 1 };
  const waiting: (() => void)[] = [];
  const state = { hasFailed: false };
  const sessionChecks: string[] = [];
  const claims: boolean[] = [];
  const clock = { nowMs: () => 0, monotonicMs: () => time.ms };
  const gate = new LiveGate({
    streams: {
      find: () =>
        new Promise((resolve, reject) => {
          if (state.hasFailed) reject(new Error('no database'));
          waiting.push(() => resolve({ ...closedStream, projectId: 'pr1', name: 'Pier', public: isPublic }));
        }),
      thumbnailPath: async () => undefined,
    },
    playback: playbackGateOf({
      sessions: {
        admit: async ({ token, mayClaimToken }) => {
          sessionChecks.push(token);
          claims.push(mayClaimToken);
          return { sessionToken: `session of ${token}`, expiresAtMs: 1 };
        },
      },
      clock,
    }),
    clock,
  });
  const answer = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { gate, time, state, waiting, sessionChecks, claims, answer };
}

it('admits to the media of a public stream at once while the stream is cached', async () => {
  const { gate, time, waiting, sessionChecks, answer } = gateOf();
  const first = gate.admitToMedia(asked);
  expect(first).toBeInstanceOf(Promise);
  answer();
  expect(await first).toMatchObject({ name: 'Pier', access: undefined });
  expect(gate.admitToMedia(asked)).toMatchObject({ name: 'Pier', access: undefined });
  expect(gate.admitToMedia({ ...asked, token: 'a token' })).toBeUndefined();
  expect([waiting.length, sessionChecks.length]).toEqual([0, 0]);
  time.ms += 1_001;
  expect(gate.admitToMedia(asked)).toBeInstanceOf(Promise);
  expect(waiting).toHaveLength(1);
});

it('lets previews of links see pages without a session, and whoever else asks claim the token', async () => {
  const { gate, claims, answer } = gateOf(false);
  const agent = { 'user-agent': 'Slackbot-LinkExpanding 1.0' };
  const sessionFor = async (method: string, headers: object = agent) => {
    const admission = gate.admitToPage({ ...request, method, headers } as ViewerRequest, 'li1', 'token=a');
    answer();
    return (await admission) as { access: object };
  };
  const early = [
    agent,
    { 'sec-purpose': 'prefetch;prerender' },
    { purpose: 'prefetch' },
    { 'x-moz': 'prefetch' },
  ];
  for (const headers of early)
    expect((await sessionFor('GET', headers)).access).toEqual({ token: 'a', avh: undefined });
  // Playback over WebRTC.
  expect((await sessionFor('POST')).access).toEqual({ token: 'a', avh: 'session of a' });
  expect((await sessionFor('GET', { purpose: 'navigate' })).access).toMatchObject({ avh: 'session of a' });
  expect(claims).toEqual([false, false, false, false, true, true]);
});

it('looks a stream up once for all requests for media that come meanwhile', async () => {
  const { gate, waiting, answer } = gateOf();
  const admissions = Array.from({ length: 100 }, () => gate.admitToMedia(asked));
  expect(waiting).toHaveLength(1);
  answer();
  for (const admission of admissions) expect(await admission).toMatchObject({ name: 'Pier' });
});

it('checks the session of a private stream at each request', async () => {
  const { gate, sessionChecks, answer } = gateOf(false);
  const first = gate.admitToMedia({ ...asked, token: 'one' });
  answer();
  expect(await first).toMatchObject({ access: { token: 'one', avh: 'session of one' } });
  expect(await gate.admitToMedia({ ...asked, token: 'two' })).toMatchObject({ access: { token: 'two' } });
  expect(gate.admitToMedia(asked)).toBeUndefined();
  expect(sessionChecks).toEqual(['one', 'two']);
});

it('admits those it has admitted before to media while streams cannot be looked up, for a minute', async () => {
  const { gate, time, state, answer } = gateOf();
  const first = gate.admitToMedia(asked);
  answer();
  await first;
  time.ms += 1_001;
  // No answer.
  expect(await gate.admitToMedia(asked)).toMatchObject({ name: 'Pier' });
  answer();
  await setImmediate();
  state.hasFailed = true;
  time.ms += 58_000;
  expect(await gate.admitToMedia(asked)).toMatchObject({ name: 'Pier' });
  await expect(gate.admit(asked)).rejects.toThrow('no database');
  time.ms += 2_001;
  await expect(gate.admitToMedia(asked)).rejects.toThrow('no database');
});
