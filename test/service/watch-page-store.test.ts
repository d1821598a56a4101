import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { WatchPageStore } from '../../src/resources/videos/videos/watch-page.store.ts';
import type { Database } from '../../src/store/database.ts';
import { addFirstAccount } from '../support/first-account.ts';
import { rowsOf, runSql, singleValue } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { databaseKinds, openTestDatabase } from '../support/test-database.ts';

const restricting = JSON.stringify({
  allowedDomains: [],
  allowNoReferrer: true,
  allowedCountries: ['DE'],
  blockedCountries: [],
});
const liveStreamId = 'liOfTest0000000000000000';

describe.each(databaseKinds)('what watch pages read on %s', kind => {
  let database: Database;
  let store: WatchPageStore;
  let projectId: string;

  beforeEach(async () => {
    database = await openTestDatabase(await testTempDir(), kind);
    onTestFinished(() => database.stop());
    await addFirstAccount(database);
    projectId = (await singleValue<string>(
      database,
      "SELECT id FROM projects WHERE environment = 'production'",
    ))!;
    store = new WatchPageStore(database);
  });

  async function add(
    id: string,
    publishedAtMs: number,
    values: {
      isPublic?: number;
      policy?: string | null;
      isDiscarded?: boolean;
      isPlayable?: number;
      createdAtMs?: number;
      liveStreamId?: string;
      clippedFrom?: string;
    } = {},
  ): Promise<void> {
    const { isDiscarded = false, createdAtMs = 1 } = values;
    await database.run(
      database.queries.insertInto('videos').values({
        id,
        project_id: projectId,
        title: `Title of ${id}`,
        title_folded: '',
        description: 'Text',
        is_public: values.isPublic ?? 1,
        is_panoramic: 0,
        has_mp4_support: 0,
        player_id: null,
        language: null,
        tags: '[]',
        metadata: '[]',
        live_stream_id: values.liveStreamId ?? null,
        clipped_from: values.clippedFrom ?? null,
        watermark: null,
        clip_start_ms: null,
        clip_end_ms: null,
        is_discarded: Number(isDiscarded),
        discarded_at_ms: isDiscarded ? 1 : null,
        deletes_at_ms: isDiscarded ? 2 : null,
        created_at_ms: createdAtMs,
        published_at_ms: publishedAtMs,
        updated_at_ms: 1,
        playback_policy: values.policy ?? null,
      }),
    );
    await runSql(
      database,
      `INSERT INTO video_encodings (video_id, facts, is_playable, has_storyboard) VALUES (?, '{"duration":61.5}', ?, 0)`,
      id,
      values.isPlayable ?? 1,
    );
  }

  it('finds the texts of a video', async () => {
    await add('viA', 10);
    expect(await store.details('viA')).toEqual({ description: 'Text', publishedAtMs: 10 });
    expect(await store.details('viB')).toBeUndefined();
  });

  it('finds the recording of the newest broadcast of a live stream', async () => {
    await runSql(
      database,
      `INSERT INTO live_streams (id, project_id, name, name_folded, stream_key, is_public, restreams, created_at_ms, updated_at_ms)
        VALUES (?, ?, 'Pier', 'pier', 'k', 1, '[]', 1, 1)`,
      liveStreamId,
      projectId,
    );
    const broadcast = (id: string, atMs: number) =>
      runSql(
        database,
        `INSERT INTO broadcasts (id, project_id, live_stream_id, state, started_at_ms, protocol, remote_address, encoder)
          VALUES (?, ?, ?, 'ended', ?, 'rtmp', '', '')`,
        id,
        projectId,
        liveStreamId,
        atMs,
      );
    const found = async () => (await store.recordingOf(liveStreamId))?.videoId;
    await add('viBefore', 1, { liveStreamId, createdAtMs: 50 });
    expect(await found()).toBeUndefined();
    await broadcast('br1', 100);
    expect(await found()).toBeUndefined();
    await add('viPrivate', 1, { liveStreamId, createdAtMs: 150, isPublic: 0 });
    await add('viDiscarded', 1, { liveStreamId, createdAtMs: 150, isDiscarded: true });
    await add('viArriving', 1, { liveStreamId, createdAtMs: 150, isPlayable: 0 });
    await add('viClip', 1, { liveStreamId, createdAtMs: 180, clippedFrom: liveStreamId });
    expect(await found()).toBeUndefined();
    await add('viRecording', 1, { liveStreamId, createdAtMs: 150 });
    expect(await found()).toBe('viRecording');
    await runSql(database, "UPDATE videos SET playback_policy = ? WHERE id = 'viRecording'", restricting);
    expect(await found()).toBeUndefined();
    await runSql(database, "UPDATE videos SET playback_policy = NULL WHERE id = 'viRecording'");
    await broadcast('br2', 200);
    expect(await found()).toBeUndefined();
  });

  it.runIf(kind === 'SQLite')('finds it by an index, however many recordings there are', async () => {
    const plans: string[] = [];
    const explaining = {
      dialect: database.dialect,
      queries: database.queries,
      all: async (query: { compile(): { sql: string; parameters: readonly unknown[] } }) => {
        const { sql, parameters } = query.compile();
        const steps = await rowsOf<{ detail: string }>(database, `EXPLAIN QUERY PLAN ${sql}`, ...parameters);
        plans.push(...steps.map(({ detail }) => detail));
        return [];
      },
      first: async (query: { compile(): { sql: string; parameters: readonly unknown[] } }) => {
        await explaining.all(query);
      },
    };
    const explained = new WatchPageStore(explaining as unknown as Database);
    await explained.recordingOf(liveStreamId);
    expect(plans).toContainEqual(expect.stringMatching(/videos_public_by_live_stream/));
    expect(plans.filter(plan => /^SCAN/.test(plan))).toEqual([]);
  });
});
