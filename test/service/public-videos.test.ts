import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { PublicVideosStore } from '../../src/resources/videos/videos/public-videos.store.ts';
import type { Database } from '../../src/store/database.ts';
import { addFirstAccount } from '../support/first-account.ts';
import { rowsOf, runSql } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { databaseKinds, openTestDatabase } from '../support/test-database.ts';

const restricting = JSON.stringify({
  allowedDomains: [],
  allowNoReferrer: true,
  allowedCountries: ['DE'],
  blockedCountries: [],
});
const unrestricting = JSON.stringify({ ...JSON.parse(restricting), allowedCountries: [] });
const liveStreamId = 'liOfTest0000000000000000';

describe.each(databaseKinds)('public videos on %s', kind => {
  let database: Database;
  let store: PublicVideosStore;
  let projects: { production: string; sandbox: string };

  beforeEach(async () => {
    database = await openTestDatabase(await testTempDir(), kind);
    onTestFinished(() => database.stop());
    await addFirstAccount(database);
    const rows = await rowsOf<{ id: string; environment: string }>(database, 'SELECT * FROM projects');
    const of = (environment: string) => rows.find(row => row.environment === environment)!.id;
    projects = { production: of('production'), sandbox: of('sandbox') };
    store = new PublicVideosStore(database);
  });

  async function add(
    id: string,
    publishedAtMs: number,
    values: {
      projectId?: string;
      isPublic?: number;
      policy?: string | null;
      tags?: string;
      isDiscarded?: boolean;
      isPlayable?: number;
      createdAtMs?: number;
      liveStreamId?: string;
    } = {},
  ): Promise<void> {
    const { isDiscarded = false, createdAtMs = 1 } = values;
    await database.run(
      database.queries.insertInto('videos').values({
        id,
        project_id: values.projectId ?? projects.production,
        title: `Title of ${id}`,
        title_folded: '',
        description: 'Text',
        is_public: values.isPublic ?? 1,
        is_panoramic: 0,
        has_mp4_support: 0,
        player_id: null,
        language: null,
        tags: values.tags ?? '[]',
        metadata: '[]',
        live_stream_id: values.liveStreamId ?? null,
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

  const ids = async (video: Parameters<PublicVideosStore['after']>[0], limit = 10) =>
    (await store.after(video, limit)).map(({ videoId }) => videoId);

  it('lists those that were published before, then the newest, without the video itself', async () => {
    for (const [id, atMs] of [
      ['viA', 10],
      ['viB', 20],
      ['viC', 20],
      ['viD', 30],
    ] as const)
      await add(id, atMs);
    const projectId = projects.production;
    expect(await ids({ projectId })).toEqual(['viD', 'viC', 'viB', 'viA']);
    expect(await ids({ projectId, videoId: 'viC', publishedAtMs: 20 })).toEqual(['viB', 'viA', 'viD']);
    expect(await ids({ projectId, videoId: 'viC', publishedAtMs: 20 }, 2)).toEqual(['viB', 'viA']);
    expect(await ids({ projectId, videoId: 'viA', publishedAtMs: 10 }, 2)).toEqual(['viD', 'viC']);
    const [first] = await store.after({ projectId }, 1);
    expect(first).toEqual({
      videoId: 'viD',
      title: 'Title of viD',
      publishedAtMs: 30,
      durationSeconds: 61.5,
    });
    expect(await store.details('viA')).toEqual({ description: 'Text', publishedAtMs: 10 });
  });

  it('lists nothing that not everybody may watch: of other environments, private, restricted, discarded, not playable', async () => {
    await add('viPublic', 1);
    await add('viAllowing', 2, { policy: unrestricting });
    await add('viSandbox', 3, { projectId: projects.sandbox });
    await add('viPrivate', 4, { isPublic: 0 });
    await add('viRestricted', 5, { policy: restricting });
    await add('viDiscarded', 6, { isDiscarded: true });
    await add('viFailed', 7, { isPlayable: 0 });
    await add('viOfViewer', 8, { tags: '["viewer-clip"]' });
    expect(await ids({ projectId: projects.production })).toEqual(['viAllowing', 'viPublic']);
    expect(await ids({ projectId: projects.sandbox })).toEqual(['viSandbox']);
    await runSql(database, 'UPDATE projects SET playback_policy = ?', restricting);
    expect(await ids({ projectId: projects.production })).toEqual(['viAllowing']);
    expect(await ids({ projectId: 'prOther' })).toEqual([]);
  });

  it('finds the recording of the newest broadcast of a live stream', async () => {
    await runSql(
      database,
      `INSERT INTO live_streams (id, project_id, name, name_folded, stream_key, is_public, restreams, created_at_ms, updated_at_ms)
        VALUES (?, ?, 'Pier', 'pier', 'k', 1, '[]', 1, 1)`,
      liveStreamId,
      projects.production,
    );
    const broadcast = (id: string, atMs: number) =>
      runSql(
        database,
        `INSERT INTO broadcasts (id, project_id, live_stream_id, state, started_at_ms, protocol, remote_address, encoder)
          VALUES (?, ?, ?, 'ended', ?, 'rtmp', '', '')`,
        id,
        projects.production,
        liveStreamId,
        atMs,
      );
    const found = async () => (await store.recordingOf(liveStreamId))?.videoId;
    await add('viBefore', 1, { liveStreamId, createdAtMs: 50 });
    expect(await found()).toBeUndefined();
    await broadcast('br1', 100);
    expect(await found()).toBeUndefined();
    await add('viPrivate', 1, { liveStreamId, createdAtMs: 150, isPublic: 0 });
    await add('viArriving', 1, { liveStreamId, createdAtMs: 150, isPlayable: 0 });
    expect(await found()).toBeUndefined();
    await add('viRecording', 1, { liveStreamId, createdAtMs: 150 });
    expect(await found()).toBe('viRecording');
    await runSql(database, "UPDATE videos SET playback_policy = ? WHERE id = 'viRecording'", restricting);
    expect(await found()).toBeUndefined();
    await runSql(database, "UPDATE videos SET playback_policy = NULL WHERE id = 'viRecording'");
    await broadcast('br2', 200);
    expect(await found()).toBeUndefined();
  });

  it.runIf(kind === 'SQLite')('reads a bounded number of rows, whatever the project has', async () => {
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
    const explained = new PublicVideosStore(explaining as unknown as Database);
    await explained.after({ projectId: 'pr' }, 1);
    await explained.recordingOf(liveStreamId);
    expect(plans).toContainEqual(expect.stringMatching(/videos_public_by_publication/));
    expect(plans).toContainEqual(expect.stringMatching(/videos_public_by_live_stream/));
    expect(plans.filter(plan => /^SCAN (?!v$)/.test(plan))).toEqual([]);
  });
});
