import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EventFeedOptions } from '../../src/events/feed/event-feed.ts';
import type { BroadcastStatsMessage } from '../../src/events/feed/feed-message.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { runSql } from '../support/sql.ts';
import { basic, sandboxKey } from '../support/start-api.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type FeedServer, fillHistory, listen, startFeed } from './event-feed-fixture.ts';

const facts = (projectId: string, change: Partial<BroadcastStatsMessage> = {}): BroadcastStatsMessage => ({
  projectId,
  liveStreamId: 'li1',
  broadcastId: 'br1',
  state: 'live',
  durationSeconds: 12,
  bitrateBitsPerSecond: 2_500_000,
  framesPerSecond: 30,
  droppedFrames: 0,
  missingFrames: 1,
  keyframeIntervalSeconds: undefined,
  viewers: 3,
  ...change,
});

/** A client whose socket is never read. */
async function listenDeaf({ server }: FeedServer, query = '') {
  const socket = connect({ port: server.listener.httpPort, host: '127.0.0.1' });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  const lines = [
    `GET /events${query} HTTP/1.1`,
    'Host: a',
    `Authorization: ${basic(sandboxKey)}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ];
  socket.pause();
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  return socket;
}

/** A clock that a test can set forward. */
function adjustableClock() {
  let aheadMs = 0;
  return {
    nowMs: () => systemClock.nowMs() + aheadMs,
    monotonicMs: () => systemClock.monotonicMs() + aheadMs,
    advance: (ms: number) => {
      aheadMs += ms;
    },
  };
}

describe('transient messages', () => {
  it('report broadcasts to subscribed clients of the project', async () => {
    const asked: boolean[] = [];
    let projectId = '';
    const broadcasts: EventFeedOptions['broadcasts'] = wants => {
      asked.push(wants(projectId));
      const all = [facts(projectId), facts(projectId, { liveStreamId: 'li2', keyframeIntervalSeconds: 2 })];
      return [...all, facts('another')].filter(one => wants(one.projectId));
    };
    const running = await startFeed({ broadcasts });
    projectId = running.projectId;
    const other = await running.server.addAccount();
    const stranger = await listen(running, { key: other.sandboxKey });
    await waitUntil(() => asked.length > 0);
    const uninterested = await listen(running, { query: '?types=video.encoding.progress' });
    const one = await listen(running, { query: '?subjectId=li2' });
    const both = await listen(running, { query: '?types=broadcast.stats' });
    await Promise.all([one.until(3), both.until(4)]);
    expect(asked[0]).toBe(false);
    expect(one.messages[1]).toEqual({
      type: 'broadcast.stats',
      emittedAt: expect.stringMatching(/\+00:00$/),
      liveStreamId: 'li2',
      broadcastId: 'br1',
      state: 'live',
      durationSeconds: 12,
      bitrateBitsPerSecond: 2_500_000,
      framesPerSecond: 30,
      droppedFrames: 0,
      missingFrames: 1,
      keyframeIntervalSeconds: 2,
      viewers: 3,
    });
    expect(both.messages[1]).not.toHaveProperty('keyframeIntervalSeconds');
    expect(new Set(both.messages.slice(1).map(message => message.liveStreamId))).toEqual(
      new Set(['li1', 'li2']),
    );
    expect([stranger.messages.length, uninterested.messages.length]).toEqual([1, 1]);
  });

  it('report broadcasts in turn when there are more than the queue holds', async () => {
    let projectId = '';
    const ids = Array.from({ length: 400 }, (_, index) => `li${index}`);
    const running = await startFeed({
      broadcasts: () => ids.map(liveStreamId => facts(projectId, { liveStreamId })),
    });
    projectId = running.projectId;
    const client = await listen(running);
    await waitUntil(() => new Set(client.messages.map(message => message.liveStreamId)).size > ids.length);
    expect(running.counts.dropped).toBeGreaterThan(0);
  });

  it('report encodes once per percent', async () => {
    let lookups = 0;
    const running: FeedServer = await startFeed({
      projectOfVideo: async () => {
        lookups += 1;
        return running.projectId;
      },
    });
    const renditions = [
      { type: 'hls', quality: '240p' },
      { type: 'hls', quality: '360p' },
    ];
    running.feed.encodingProgressed('vi1', renditions, 5);
    expect(lookups).toBe(0);
    const client = await listen(running);
    for (const percent of [10, 10.4, 11.9]) running.feed.encodingProgressed('vi1', renditions, percent);
    await client.until(3);
    running.feed.encodingProgressed('vi1', renditions, 11.99);
    // Done before it was told: its event says so, and nothing after it says less.
    running.feed.encodingProgressed('vi1', renditions, 87);
    running.feed.encodingProgressed('vi1', renditions, 100);
    running.feed.encodingProgressed('vi2', renditions.slice(0, 1), 40);
    await client.until(4);
    expect(client.messages.slice(1).map(({ emittedAt, ...message }) => message)).toEqual([
      { type: 'video.encoding.progress', videoId: 'vi1', encoding: 'hls', quality: '240p', percent: 11 },
      { type: 'video.encoding.progress', videoId: 'vi1', encoding: 'hls', quality: '360p', percent: 11 },
      { type: 'video.encoding.progress', videoId: 'vi2', encoding: 'hls', quality: '240p', percent: 40 },
    ]);
  });
});

describe('a client that does not read', () => {
  it('uses little memory', async () => {
    const clock = adjustableClock();
    let broadcasts: BroadcastStatsMessage[] = [];
    const running = await startFeed({ broadcasts: () => broadcasts, clock }, { clock });
    await fillHistory(running, 12_000);
    await listenDeaf(running, '?lastEventId=0');
    const deafRead = await waitUntil(async () => {
      const before = running.counts.event;
      await sleep(60);
      return before > 0 && running.counts.event === before && before;
    });
    // The loopback buffers of the kernel (some megabytes) and 128 KiB of the server, far from 24 MB.
    expect(deafRead).toBeLessThan(10_000);
    const reader = await listen(running, { query: '?types=video.encoding.quality.completed' });
    await running.append('fresh');
    await reader.until(2);
    expect(reader.subjects()).toEqual(['fresh']);
    broadcasts = [facts(running.projectId)];
    await waitUntil(() => running.counts.dropped > 0);
    clock.advance(15_000);
    reader.socket.send('{"type":"ping"}');
    await reader.until(3);
    expect(running.ends).toEqual([]);
    clock.advance(16_000);
    reader.socket.send('{"type":"ping"}');
    await waitUntil(() => running.ends.length > 0);
    expect(running.ends).toEqual(['not-reading']);
    expect(reader.socket.readyState).toBe(reader.socket.OPEN);
  });

  it('receives all events once it reads again', async () => {
    const running = await startFeed();
    await fillHistory(running, 5_000);
    const client = await listen(running, { query: '?lastEventId=0' });
    client.socket.pause();
    await sleep(50);
    client.socket.resume();
    await client.until(5_001);
    expect(client.ids()).toEqual(Array.from({ length: 5_000 }, (_, index) => index + 1));
  });
});

describe('a client', () => {
  it('is disconnected when it does not answer pings', async () => {
    const clock = adjustableClock();
    const running = await startFeed({}, { clock });
    const silent = await listen(running, { client: { autoPong: false } });
    const alive = await listen(running);
    const pings: number[] = [];
    for (let round = 0; round < 2; round += 1) {
      clock.advance(15_500);
      await waitUntil(async () => {
        alive.socket.ping();
        await once(alive.socket, 'pong');
        return pings.push(round);
      });
    }
    expect(await silent.closed).toBe(1006);
    await waitUntil(() => running.ends.length > 0);
    expect(running.ends).toEqual(['no-pong']);
    expect(alive.socket.readyState).toBe(alive.socket.OPEN);
  });

  it('is closed when its token expires', async () => {
    const clock = adjustableClock();
    const running = await startFeed({ times: { maxSilenceMs: 1e9 } }, { clock });
    const { server } = running;
    const [gone, suspended] = [await server.addAccount(), await server.addAccount()];
    const { json } = await server.call('POST', '/auth/api-key', { body: { apiKey: sandboxKey } });
    const byToken = await listen(running, { headers: { authorization: `Bearer ${json.access_token}` } });
    const byKey = await listen(running);
    const byGoneKey = await listen(running, { key: gone.sandboxKey });
    const bySuspended = await listen(running, { key: suspended.sandboxKey });
    await runSql(server.database, 'DELETE FROM api_keys WHERE project_id = ?', gone.projectIds.sandbox);
    await server.api.accounts.setStanding(suspended.accountId, { isSuspended: true });
    clock.advance(3_601_000);
    expect(await Promise.all([byToken.closed, byGoneKey.closed, bySuspended.closed])).toEqual([
      4401, 4401, 4403,
    ]);
    expect(byKey.socket.readyState).toBe(byKey.socket.OPEN);
  });

  it('receives remaining events and a close when the server drains', async () => {
    const running = await startFeed();
    const client = await listen(running);
    await listenDeaf(running);
    await waitUntil(() => running.feed.clientCount === 2);
    await running.append('last');
    await running.feed.drain(Date.now() + 200);
    expect(await client.closed).toBe(1001);
    expect(client.subjects()).toEqual(['last']);
    expect(running.feed.clientCount).toBe(1);
    await running.feed.stop();
    await waitUntil(() => running.feed.clientCount === 0);
    expect(running.ends).toEqual(['server-stopping', 'server-stopping']);
  });
});
