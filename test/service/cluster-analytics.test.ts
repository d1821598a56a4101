import { createPrivateKey, randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Secret } from '../../src/shared/secret.ts';
import { openDatabase } from '../../src/store/open-database.ts';
import { withFaultyCommits } from '../support/faulty-commits.ts';
import { findPostgres } from '../support/postgres.ts';
import { signToken } from '../support/sign-token.ts';
import { startApi, type TestApi } from '../support/start-api.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { postgresUrlOf } from '../support/test-database.ts';

const startMs = Date.UTC(2026, 2, 4, 12, 30, 5);

describe.skipIf(findPostgres() === undefined)('two servers on one PostgreSQL database', () => {
  it('count a playback once, whose reports reach one or the other, for its viewer after the token expired', async () => {
    const url = await postgresUrlOf(await testTempDir());
    let nowMs = startMs;
    const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
    const start = async (): Promise<TestApi> => {
      const server = await startApi({
        clock,
        analytics: { reportsPerMinute: 0 },
        database: dataDir => openDatabase({ dataDir, url: new Secret(url) }),
      });
      onTestFinished(() => server.stop());
      return server;
    };
    const servers = [await start(), await start()];
    const { json: video } = await servers[0]!.call('POST', '/videos', { body: { title: 'A video' } });
    const { json: made } = await servers[0]!.call('POST', '/account/signing-keys', {
      body: { name: 'Website' },
    });
    const tok = await signToken(
      { id: made.signingKeyId, algorithm: 'ES256', privateKey: createPrivateKey(made.privateKey) },
      // Clocks may differ by 30 s: valid for another 5 s.
      { sub: video.videoId, exp: startMs / 1_000 - 25, viewer: 'customer-7' },
    );
    const report = { sid: randomUUID(), mid: video.videoId, pid: randomUUID(), ref: '', ver: '1', tok };
    const send = async (index: number, eve: readonly object[]) => {
      const server = servers[index % 2]!;
      await server.call('POST', '/watch', { key: null, body: { ...report, sat: nowMs, eve } });
      await server.api.analytics.tracker.flush();
    };
    await send(0, [
      { eat: nowMs, typ: 1, vti: 0 },
      { eat: nowMs, typ: 2, vti: 0 },
    ]);
    for (let step = 1; step <= 8; step += 1) {
      nowMs += 5_000;
      await send(step, [{ eat: nowMs, typ: 4, vti: 5 * step, pau: false }]);
      // A report that is repeated counts nothing.
      await send(step + 1, [{ eat: nowMs, typ: 4, vti: 5 * step, pau: false }]);
    }
    await send(1, [{ eat: nowMs, typ: 6, vti: 40 }]);
    for (const [metric, value] of [
      ['impression/count', 1],
      ['play/count', 1],
      ['start/count', 1],
      ['end/count', 1],
      ['view/count', 1],
      ['watch-time/sum', 40],
      ['ccv/peak', 1],
    ]) {
      const { json } = await servers[0]!.call('GET', `/data/metrics/${metric}`);
      expect([metric, json.data]).toEqual([metric, value]);
      const ofViewer = `/data/metrics/${metric}?filterBy[viewerId][]=customer-7`;
      expect([metric, (await servers[0]!.call('GET', ofViewer)).json.data]).toEqual([metric, value]);
    }
  });

  it('count each playback once, whose commit was not answered', async () => {
    const url = await postgresUrlOf(await testTempDir());
    const clock = { nowMs: () => startMs, monotonicMs: () => startMs };
    let faulty!: ReturnType<typeof withFaultyCommits>;
    const server = await startApi({
      clock,
      analytics: { reportsPerMinute: 0 },
      database: async dataDir => {
        faulty = withFaultyCommits(await openDatabase({ dataDir, url: new Secret(url) }));
        return faulty.database;
      },
    });
    onTestFinished(() => server.stop());
    const { json: video } = await server.call('POST', '/videos', { body: { title: 'A video' } });
    const { tracker } = server.api.analytics;
    // More than one batch: their counts follow in transactions of their own.
    const viewers = 250;
    const play = async () => {
      const sid = randomUUID();
      for (let viewer = 0; viewer < viewers; viewer += 1) {
        const report = { sid, mid: video.videoId, pid: randomUUID(), ref: '', ver: '1', sat: startMs };
        const eve = [{ eat: startMs, typ: 2, vti: 0 }];
        await server.call('POST', '/watch', { key: null, body: { ...report, eve } });
      }
    };
    await play();
    for (const fault of ['after', 'after', 'before', 'after', undefined] as const) {
      faulty.fault = fault;
      await tracker.flush();
    }
    await tracker.flush();
    await play();
    for (const fault of ['before', 'after', undefined] as const) {
      faulty.fault = fault;
      await tracker.flush();
    }
    await tracker.flush();
    for (const path of ['metrics/play/count', 'metrics/play/total']) {
      const { json } = await server.call('GET', `/data/${path}`);
      expect([path, json.data]).toEqual([path, 2 * viewers]);
    }
  });
});
