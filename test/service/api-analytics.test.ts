import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/shared/clock.ts';
import { productionKey, type RunningApi, startApi } from '../support/start-api.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** A time of day at which neither an hour nor a day ends within the tests that do not say so. */
const noon = Date.UTC(2026, 2, 4, 12, 30, 5);

class ClockOfTest implements Clock {
  ms = noon;
  nowMs = () => this.ms;
  monotonicMs = () => this.ms;
}

const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36';
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1';

const clock = new ClockOfTest();
let server: RunningApi;
const viewerAddress = { value: '127.0.0.1' };

interface Watch {
  seconds?: number;
  userAgent?: string;
  address?: string;
  referrer?: string;
  pid?: string;
  ends?: boolean;
}

/** What a player reports that is watched from its beginning. */
async function watch(mid: string, { seconds = 0, userAgent = chrome, ...more }: Watch = {}) {
  viewerAddress.value = more.address ?? '127.0.0.1';
  const pid = more.pid ?? randomUUID();
  // The player's clock is two hours slow, which nobody is to notice.
  const at = () => clock.ms - 2 * hour;
  const send = async (eve: object[]) => {
    const body = { sat: at(), sid: randomUUID(), mid, pid, ref: more.referrer ?? '', ver: '1', eve };
    const headers = { 'user-agent': userAgent, 'content-type': 'text/plain' };
    return server.call('POST', '/watch', { key: null, headers, body });
  };
  const first = [
    { eat: at(), typ: 1, vti: 0 },
    { eat: at(), typ: 2, vti: 0 },
    { eat: at(), typ: 4, vti: 0 },
  ];
  const answer = await send(first);
  for (let watched = 0; watched < seconds; ) {
    const step = Math.min(5, seconds - watched);
    watched += step;
    clock.ms += step * 1000;
    await send([{ eat: at(), typ: 4, vti: watched }]);
  }
  if (more.ends) await send([{ eat: at(), typ: 6, vti: seconds }]);
  await server.api.analytics.playbacks.flush();
  return { answer, pid };
}

async function makeVideo(key: string, attributes: object = {}): Promise<string> {
  const answer = await server.call('POST', '/videos', { key, body: { title: 'film', ...attributes } });
  return answer.json.videoId;
}

const get = (path: string, key = productionKey) => server.call('GET', `/data/${path}`, { key });
const number = async (path: string, key = productionKey): Promise<number> => (await get(path, key)).json.data;
const only = (videoId: string) => `filterBy[mediaId][0]=${videoId}`;

beforeAll(async () => {
  server = await startApi({
    clock,
    isUpgraded: true,
    analytics: { addressOf: () => viewerAddress.value, reportsPerMinute: 0 },
  });
});
afterAll(() => server.stop());

describe('what a player reports', () => {
  it('is counted and shown', async () => {
    const video = await makeVideo(productionKey);
    const { answer } = await watch(video, { seconds: 12, ends: true });
    expect(answer.status).toBe(202);
    expect(answer.text).toBe('');
    expect(answer.headers.get('content-type')).toBeNull();
    expect((await get(`metrics/play/count?${only(video)}`)).json).toEqual({
      context: {
        metric: 'play',
        aggregation: 'count',
        timeframe: { from: '2026-03-03T12:30:17+00:00', to: '2026-03-04T12:30:17+00:00' },
      },
      data: 1,
    });
    for (const [path, value] of [
      ['play/sum', 1],
      ['play/rate', 1],
      ['play/total', 1],
      ['start/count', 1],
      ['end/count', 1],
      ['impression/count', 1],
      ['impression-time/average', 0],
      ['watch-time/sum', 12],
      ['watch-time/average', 12],
      ['view/count', 1],
      ['ccv/peak', 1],
      ['ccv/live', 1],
    ] as const) {
      expect([path, await number(`metrics/${path}?${only(video)}`)]).toEqual([path, value]);
    }
    expect(await number(`metrics/view/count?${only(video)}&viewDuration=30s`)).toBe(0);
  });
});
