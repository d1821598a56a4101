import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { inheritAccess } from '../../src/resources/playback/playback-policies/inherited-access.ts';
import { VideosStore } from '../../src/resources/videos/videos/videos.store.ts';
import type { Connection, Transaction } from '../../src/store/connection.ts';
import type { Database } from '../../src/store/database.ts';
import { addFirstAccount } from '../support/first-account.ts';
import { singleValue } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { databaseKinds, openTestDatabase } from '../support/test-database.ts';
import { waitUntil } from '../support/wait-until.ts';

describe.each(databaseKinds)('with %s', kind => {
  let database: Database;
  let store: VideosStore;
  let projectId: string;
  beforeEach(async () => {
    database = await openTestDatabase(await testTempDir(), kind);
    onTestFinished(() => database.stop());
    await addFirstAccount(database);
    store = new VideosStore(database);
    projectId = (await singleValue<string>(database, 'SELECT id FROM projects LIMIT 1'))!;
  });

  async function add(videoId: string, source?: string, connection: Connection = database): Promise<void> {
    await connection.run(
      connection.queries.insertInto('videos').values({
        id: videoId,
        project_id: projectId,
        title: videoId,
        title_folded: videoId,
        description: '',
        is_public: 1,
        is_panoramic: 0,
        has_mp4_support: 1,
        player_id: null,
        language: null,
        tags: '[]',
        metadata: '[]',
        live_stream_id: null,
        watermark: null,
        clip_start_ms: null,
        clip_end_ms: null,
        discarded_at_ms: null,
        deletes_at_ms: null,
        created_at_ms: 1,
        published_at_ms: 1,
        updated_at_ms: 1,
      }),
    );
    if (source !== undefined) await inherit(videoId, source, connection as Transaction);
  }

  function inherit(videoId: string, id: string, transaction: Transaction): Promise<void> {
    const has = { public: false, policy: false };
    return inheritAccess({ videoId, projectId }, { id, limits: undefined }, has, transaction);
  }

  const isPublic = async (videoId: string) =>
    (await store.find({ projectId, isDiscarded: false }, videoId))?.public;

  test('a copy of a copy that is made while the original becomes private is private', async () => {
    await add('viA');
    await database.transaction(transaction => add('viB', 'viA', transaction));
    const [added, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const adding = database.transaction(async transaction => {
      await add('viC', 'viB', transaction);
      added.resolve();
      await released.promise;
    });
    await added.promise;
    const changed = store.change(projectId, 'viA', { public: false }, 2);
    // SQLite has one writer.
    const waiting = `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    if (kind === 'PostgreSQL') await waitUntil(async () => Number(await singleValue(database, waiting)) > 0);
    released.resolve();
    await adding;
    expect(await changed).toBe(true);
    expect([await isPublic('viB'), await isPublic('viC')]).toEqual([false, false]);
  });

  test('nothing is copied from what was deleted meanwhile, since nobody knows who may play it', async () => {
    for (const source of ['viA', 'liA']) {
      const added = database.transaction(transaction => add('viB', source, transaction));
      await expect(added).rejects.toMatchObject({ code: 'invalid-attribute' });
      expect(await isPublic('viB')).toBeUndefined();
    }
  });
});
