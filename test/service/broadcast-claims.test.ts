import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Outbox } from '../../src/events/outbox.store.ts';
import { AccountsStore } from '../../src/resources/identity/accounts/accounts.store.ts';
import { BroadcastClaims } from '../../src/resources/live/broadcasts/broadcast-claims.ts';
import { BroadcastHistory } from '../../src/resources/live/broadcasts/broadcast-history.ts';
import { ClusterBroadcasts } from '../../src/resources/live/broadcasts/cluster-broadcasts.ts';
import { LiveStreamsStore } from '../../src/resources/live/live-streams/live-streams.store.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import type { Database } from '../../src/store/database.ts';
import { singleValue } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { databaseKinds, openTestDatabase } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';

const liveStreamId = 'li0123456789012345678901';

async function withStream(database: Database) {
  const { projectIds } = await database.transaction(transaction =>
    new AccountsStore(database).addAccount({ isUpgraded: false, createdAtMs: 1 }, transaction),
  );
  await new LiveStreamsStore(database).add({
    liveStreamId,
    projectId: projectIds.sandbox,
    name: 'Pier',
    streamKey: 'key',
    public: true,
    playerId: undefined,
    restreams: [],
    qualities: undefined,
    record: undefined,
    source: undefined,
    ultraLowLatency: false,
    viewerClips: false,
    thumbnailType: undefined,
    createdAtMs: 1,
    updatedAtMs: 1,
  });
  return projectIds.sandbox;
}

describe.each(databaseKinds)('claims of broadcasts on %s', kind => {
  async function cluster(...nodeIds: string[]) {
    const database = await openTestDatabase(await testTempDir(), kind);
    onTestFinished(() => database.stop());
    const projectId = await withStream(database);
    const alive = new Set(nodeIds);
    const nodes = nodeIds.map(
      nodeId =>
        new BroadcastClaims({
          database,
          nodeId,
          clock: systemClock,
          reconnectGraceMs: 60_000,
          listNodes: async () => [...alive].map(id => ({ id, roles: ['ingest'], isDraining: false })),
        }),
    );
    const publish = (claims: BroadcastClaims) =>
      claims.claim({
        liveStreamId,
        projectId,
        state: 'starting',
        startedAtMs: Date.now(),
        protocol: 'rtmp',
        remoteAddress: '192.0.2.1',
        encoder: '',
      });
    const history = new BroadcastHistory(database, new Outbox(database, silentLogger));
    return {
      database,
      nodes: nodes as [BroadcastClaims, BroadcastClaims, ...BroadcastClaims[]],
      publish,
      alive,
      history,
    };
  }

  it('gives a live stream to one server, also when all ask at once', async () => {
    const { nodes, publish } = await cluster('no1', 'no2', 'no3');
    // Answers each request about a claim, as a server with a publisher does.
    const answering = setInterval(() => {
      for (const claims of nodes) {
        void claims.store.findOpen(liveStreamId).then(async open => {
          if (open?.wantedBy !== undefined && claims.claimOf(open.broadcastId) === open.claim)
            await claims.keep(open);
        });
      }
    }, 50);
    const claimed = await Promise.all(nodes.map(claims => publish(claims)));
    clearInterval(answering);
    expect(claimed.filter(one => one !== undefined)).toHaveLength(1);
  });

  it('continues a broadcast that waits for its publisher, with numbers beyond all others', async () => {
    const { nodes, publish, history } = await cluster('no1', 'no2');
    const first = await publish(nodes[0]);
    await history.changed(first!.broadcastId, { state: 'live' });
    await history.changed(first!.broadcastId, { state: 'waiting' });
    await sleep(250);
    const second = await publish(nodes[1]);
    expect(second?.broadcastId).toBe(first?.broadcastId);
    expect(second?.continued?.claim).toBe(2);
    // A segment in 100 ms, and a reserve.
    expect(second?.continued?.continuesAt).toBeGreaterThanOrEqual(1 + 3 + 1000);
    await history.changed(first!.broadcastId, { state: 'waiting' });
    const third = await publish(nodes[0]);
    expect(third?.continued?.continuesAt).toBeGreaterThan(second!.continued!.continuesAt);
  });

  it('takes the broadcast of a server that is gone at once', async () => {
    const { nodes, publish, alive, history } = await cluster('no1', 'no2');
    const first = await publish(nodes[0]);
    await history.changed(first!.broadcastId, { state: 'live' });
    alive.delete('no1');
    expect((await publish(nodes[1]))?.broadcastId).toBe(first?.broadcastId);
  });

  it('takes the broadcast of a server that does not answer', async () => {
    const { nodes, publish, history } = await cluster('no1', 'no2');
    const first = await publish(nodes[0]);
    await history.changed(first!.broadcastId, { state: 'live' });
    expect((await publish(nodes[1]))?.continued?.claim).toBe(2);
  });

  it('leaves a claim that another server took', async () => {
    const { nodes, publish, history } = await cluster('no1', 'no2');
    const first = await publish(nodes[0]);
    await history.changed(first!.broadcastId, { state: 'waiting' });
    await publish(nodes[1]);
    await nodes[0].release(first!.broadcastId);
    expect(await nodes[1].store.findOpen(liveStreamId)).toMatchObject({ nodeId: 'no2', claim: 2 });
    await nodes[1].releaseAllOf('no2');
    const open = await nodes[1].store.findOpen(liveStreamId);
    expect(open).toMatchObject({ nodeId: undefined, state: 'waiting' });
    expect(open!.expiresAtMs! - (await nodes[1].store.nowMs())).toBeGreaterThan(30_000);
  });

  it('lets only the server of a broadcast write about it', async () => {
    const { nodes, publish, history } = await cluster('no1', 'no2');
    const { broadcastId } = (await publish(nodes[0]))!;
    const end = (claims: BroadcastClaims) =>
      claims.writeOwn(broadcastId, transaction =>
        history.ended(broadcastId, 5, 'publisher-gone', undefined, transaction),
      );
    await nodes[0].writeOwn(broadcastId, transaction =>
      history.changed(broadcastId, { state: 'waiting' }, transaction),
    );
    await publish(nodes[1]);
    // Ends it like a server that was held up, and ends what it no longer has.
    expect(await end(nodes[0])).toBe(false);
    expect(await nodes[1].store.findOpen(liveStreamId)).toMatchObject({ nodeId: 'no2', claim: 2 });
    expect(await end(nodes[1])).toBe(true);
    expect(await nodes[1].store.findOpen(liveStreamId)).toBeUndefined();
  });

  it('keeps the newer claim of a server that released the former one meanwhile', async () => {
    const { nodes, publish } = await cluster('no1');
    const first = await publish(nodes[0]);
    const [, second] = await Promise.all([nodes[0].release(first!.broadcastId), publish(nodes[0])]);
    const open = await nodes[0].store.findOpen(liveStreamId);
    expect(open).toMatchObject({ nodeId: 'no1', claim: second!.continued!.claim });
    expect(nodes[0].claimOf(first!.broadcastId)).toBe(open!.claim);
  });

  /** The broadcasts of others, as server `no1` knows them. It reads again only when it is told to. */
  async function follow({ database, nodes: [{ store }], history }: Awaited<ReturnType<typeof cluster>>) {
    const broadcasts = new ClusterBroadcasts({
      database,
      store,
      history,
      nodeId: 'no1',
      log: silentLogger,
      listNodes: async () => [],
      clock: { nowMs: Date.now, monotonicMs: () => 0 },
    });
    await broadcasts.start();
    onTestFinished(() => broadcasts.stop());
    return broadcasts;
  }

  it('reads broadcasts again when they change while it reads', async () => {
    const servers = await cluster('no1', 'no2');
    const { nodes, publish, database } = servers;
    const { broadcastId } = (await publish(nodes[1]))!;
    const broadcasts = await follow(servers);
    expect(broadcasts.find(liveStreamId)?.nodeId).toBe('no2');
    const { store } = nodes[0];
    const listVersions = store.listVersions.bind(store);
    const [hasRead, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    store.listVersions = async () => {
      const versions = await listVersions();
      hasRead.resolve();
      await goOn.promise;
      return versions;
    };
    await database.signals.send('live', '');
    await hasRead.promise;
    await nodes[1].release(broadcastId);
    goOn.resolve();
    await waitUntil(() => broadcasts.find(liveStreamId)?.nodeId === undefined);
  });

  it('reads rows of broadcasts that changed only, and reports when they are requested', async () => {
    const servers = await cluster('no1', 'no2');
    const { nodes, publish, database } = servers;
    const { broadcastId } = (await publish(nodes[1]))!;
    const { store } = nodes[0];
    const findAllOpen = store.findAllOpen.bind(store);
    const read: string[][] = [];
    store.findAllOpen = ids => {
      read.push([...ids]);
      return findAllOpen(ids);
    };
    const broadcasts = await follow(servers);
    expect(read[0]).toEqual([broadcastId]);
    await database.signals.send('live', '');
    await waitUntil(() => read.some(ids => ids.length === 0));

    // The signal is lost.
    const report = {
      broadcastId,
      claim: 1,
      multivariant: '#EXTM3U',
      targetDurationSeconds: 2,
      report: '{"alarms":[]}',
    };
    await database.transaction(transaction => store.report('no2', [report], transaction));
    await database.signals.send('live', '');
    await waitUntil(() => broadcasts.find(liveStreamId)?.hasReport === true);
    expect(read.filter(ids => ids.length > 0).length).toBeGreaterThan(1);
    const open = broadcasts.find(liveStreamId)!;
    expect(broadcasts.multivariantOf(open)).toBe('#EXTM3U');
    expect(await broadcasts.reportOf(open)).toBe(report.report);
    expect(broadcasts.recentReportOf(open)).toBeUndefined();
    await waitUntil(() => broadcasts.recentReportOf(open) === report.report);

    await database.run(
      database.queries
        .updateTable('broadcasts')
        .set({ ended_at_ms: 9, end_reason: 'publisher-gone' })
        .where('id', '=', broadcastId),
    );
    await database.signals.send('live', '');
    await waitUntil(() => broadcasts.find(liveStreamId) === undefined);
  });

  it('ends what an earlier version left in a crash', async () => {
    const servers = await cluster('no1', 'no2');
    const { database, history, nodes } = servers;
    const { projectId } = (await database.first(
      database.queries.selectFrom('live_streams').select('project_id as projectId'),
    ))!;
    await history.opened({
      liveStreamId,
      projectId,
      state: 'live',
      startedAtMs: 1,
      protocol: 'rtmp',
      remoteAddress: '192.0.2.1',
      encoder: '',
    });
    await follow(servers);
    await waitUntil(async () => (await nodes[0].store.findOpen(liveStreamId)) === undefined);
    expect(await singleValue(database, 'SELECT end_reason FROM broadcasts')).toBe('server-crashed');
  });

  it('tells the server of a broadcast that it is wanted, or to be ended', async () => {
    const { nodes, publish, history } = await cluster('no1', 'no2');
    const first = await publish(nodes[0]);
    await history.changed(first!.broadcastId, { state: 'live' });
    const refused = publish(nodes[1]);
    await waitUntil(async () => (await nodes[0].store.findOpen(liveStreamId))?.wantedBy === 'no2');
    await nodes[0].keep((await nodes[0].store.findOpen(liveStreamId))!);
    expect(await refused).toBeUndefined();
    expect(await nodes[1].requestEnd(liveStreamId, 'completed')).toBe(true);
    expect((await nodes[0].store.listOf('no1'))[0]?.requestedEnd).toBe('completed');
    await history.ended(first!.broadcastId, 5, 'completed');
    expect(await nodes[1].requestEnd(liveStreamId, 'completed')).toBe(false);
  });
});
