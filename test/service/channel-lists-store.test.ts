import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ChannelListsStore } from '../../src/resources/playback/channels/channel-lists.store.ts';
import { ChannelsStore } from '../../src/resources/playback/channels/channels.store.ts';
import type { Database } from '../../src/store/database.ts';
import { foldText } from '../../src/store/folded-text.ts';
import { addFirstAccount } from '../support/first-account.ts';
import { rowsOf, runSql } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { databaseKinds, openTestDatabase } from '../support/test-database.ts';

const policy = (countries: string[]) =>
  JSON.stringify({
    allowedDomains: [],
    allowNoReferrer: true,
    allowedCountries: countries,
    blockedCountries: [],
  });
const restricting = policy(['DE']);
const unrestricting = policy([]);
const nowMs = 1_000;

describe.each(databaseKinds)('the lists of channels on %s', kind => {
  let database: Database;
  let lists: ChannelListsStore;
  let projects: { production: string; sandbox: string };

  beforeEach(async () => {
    database = await openTestDatabase(await testTempDir(), kind);
    onTestFinished(() => database.stop());
    await addFirstAccount(database);
    const rows = await rowsOf<{ id: string; environment: string }>(database, 'SELECT * FROM projects');
    const of = (environment: string) => rows.find(row => row.environment === environment)!.id;
    projects = { production: of('production'), sandbox: of('sandbox') };
    lists = new ChannelListsStore(database);
    await turnOn(projects.production, 'pier');
  });

  async function turnOn(projectId: string, slug: string, enabled = true): Promise<void> {
    const store = new ChannelsStore(database);
    await database.transaction(transaction =>
      store.change(projectId, { enabled, slug, name: 'Pier TV' }, 1, transaction),
    );
  }

  async function add(
    id: string,
    publishedAtMs: number,
    values: {
      projectId?: string;
      title?: string;
      isListed?: number;
      isPublic?: number;
      policy?: string;
      isDiscarded?: boolean;
      isPlayable?: number;
      expiresAtMs?: number;
    } = {},
  ): Promise<void> {
    const { isDiscarded = false, title = `Title of ${id}` } = values;
    await database.run(
      database.queries.insertInto('videos').values({
        id,
        project_id: values.projectId ?? projects.production,
        title,
        title_folded: foldText(title),
        description: 'Text',
        is_listed: values.isListed ?? 1,
        is_public: values.isPublic ?? 1,
        is_panoramic: 0,
        has_mp4_support: 0,
        tags: '[]',
        metadata: '[]',
        is_discarded: Number(isDiscarded),
        discarded_at_ms: isDiscarded ? 1 : null,
        deletes_at_ms: isDiscarded ? 2 : null,
        expires_at_ms: values.expiresAtMs ?? null,
        created_at_ms: 1,
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

  const channel = async () => (await lists.findBySlug('pier'))!;
  const ids = async (request: Partial<Parameters<ChannelListsStore['videos']>[1]> = {}) =>
    (await lists.videos(await channel(), { limit: 10, ...request }, nowMs)).map(({ videoId }) => videoId);

  it('are found while the channel is on, in production, and the account is not suspended', async () => {
    const { projectId, pairId } = await channel();
    expect(projectId).toBe(projects.production);
    expect((await lists.findByPair(pairId))?.slug).toBe('pier');
    expect((await lists.findByProject(projectId))?.name).toBe('Pier TV');
    await turnOn(projects.sandbox, 'pier-sandbox');
    expect(await lists.findBySlug('pier-sandbox')).toBeUndefined();
    await runSql(database, 'UPDATE accounts SET is_suspended = 1');
    expect(await lists.findBySlug('pier')).toBeUndefined();
    await runSql(database, 'UPDATE accounts SET is_suspended = 0');
    await turnOn(projects.production, 'pier', false);
    expect(await lists.findBySlug('pier')).toBeUndefined();
  });

  it('have only what everybody may watch and the owner has listed', async () => {
    await add('viListed', 1);
    await add('viAllowing', 2, { policy: unrestricting });
    await add('viWithLink', 3, { isListed: 0 });
    await add('viPrivate', 4, { isPublic: 0 });
    await add('viRestricted', 5, { policy: restricting });
    await add('viDiscarded', 6, { isDiscarded: true });
    await add('viFailed', 7, { isPlayable: 0 });
    await add('viSandbox', 8, { projectId: projects.sandbox });
    await add('viExpired', 9, { expiresAtMs: nowMs - 1 });
    await add('viExpiring', 10, { expiresAtMs: nowMs + 1 });
    expect(await ids()).toEqual(['viExpiring', 'viAllowing', 'viListed']);
    await runSql(database, 'UPDATE projects SET playback_policy = ?', restricting);
    expect(await ids()).toEqual(['viAllowing']);
    await runSql(database, 'UPDATE projects SET playback_policy = ?', unrestricting);
    expect(await ids()).toEqual(['viExpiring', 'viAllowing', 'viListed']);
  });

  it('have the newest first, go on after any video, and find titles without case and accents', async () => {
    await add('viA', 10, { title: 'Été 100%' });
    await add('viB', 20);
    await add('viC', 20, { title: 'Ete_at sea' });
    await add('viD', 30);
    expect(await ids()).toEqual(['viD', 'viC', 'viB', 'viA']);
    expect(await ids({ limit: 2 })).toEqual(['viD', 'viC']);
    expect(await ids({ after: { publishedAtMs: 20, videoId: 'viC' } })).toEqual(['viB', 'viA']);
    expect(await ids({ search: 'ÉTÉ' })).toEqual(['viC', 'viA']);
    expect(await ids({ search: 'ete', after: { publishedAtMs: 20, videoId: 'viC' } })).toEqual(['viA']);
    expect([await ids({ search: '%' }), await ids({ search: '_' })]).toEqual([['viA'], ['viC']]);
    expect(await lists.videos(await channel(), { limit: 1, search: 'ete_' }, nowMs)).toEqual([
      {
        videoId: 'viC',
        title: 'Ete_at sea',
        description: 'Text',
        publishedAtMs: 20,
        durationSeconds: 61.5,
      },
    ]);
  });

  it('have the live streams whose newest broadcast goes on', async () => {
    const stream = (id: string, columns: Record<string, number | string> = {}) => {
      const values = {
        id,
        project_id: projects.production,
        name: id,
        name_folded: id,
        stream_key: id,
        is_public: 1,
        is_listed: 1,
        restreams: '[]',
        created_at_ms: 1,
        updated_at_ms: 1,
        ...columns,
      };
      const names = Object.keys(values);
      return runSql(
        database,
        `INSERT INTO live_streams (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
        ...Object.values(values),
      );
    };
    const broadcast = (liveStreamId: string, startedAtMs: number, endedAtMs: number | null = null) =>
      runSql(
        database,
        `INSERT INTO broadcasts (id, project_id, live_stream_id, state, started_at_ms, ended_at_ms, end_reason, protocol, remote_address, encoder)
          VALUES (?, ?, ?, 'live', ?, ?, ?, 'rtmp', '', '')`,
        `br${liveStreamId}${startedAtMs}`,
        projects.production,
        liveStreamId,
        startedAtMs,
        endedAtMs,
        endedAtMs === null ? null : 'completed',
      );
    await stream('liLive', { shows_viewers: 1 });
    await stream('liLater');
    await stream('liEnded');
    await stream('liUnlisted', { is_listed: 0 });
    await stream('liPrivate', { is_public: 0 });
    await stream('liRestricted', { playback_policy: restricting });
    for (const id of ['liLive', 'liUnlisted', 'liPrivate', 'liRestricted']) {
      await broadcast(id, 10, 20);
      await broadcast(id, 30);
    }
    await broadcast('liLater', 40);
    await broadcast('liEnded', 50, 60);
    expect(await lists.liveStreams(await channel())).toEqual([
      { liveStreamId: 'liLater', name: 'liLater', showViewers: false },
      { liveStreamId: 'liLive', name: 'liLive', showViewers: true },
    ]);
  });

  it('announce live streams that are offline and public, the next one first, for an hour at most', async () => {
    const hourMs = 3_600_000;
    const at = 10 * hourMs;
    const stream = (id: string, startsAtMs: number | null, columns: Record<string, unknown> = {}) => {
      const values: Record<string, unknown> = {
        id,
        project_id: projects.production,
        name: id,
        name_folded: id,
        stream_key: `key ${id}`,
        is_public: 1,
        is_listed: 1,
        restreams: '[]',
        created_at_ms: 1,
        updated_at_ms: 1,
        starts_at_ms: startsAtMs,
        ...columns,
      };
      const names = Object.keys(values);
      return runSql(
        database,
        `INSERT INTO live_streams (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
        ...Object.values(values),
      );
    };
    const broadcast = (liveStreamId: string, startedAtMs: number, endedAtMs: number | null) =>
      runSql(
        database,
        `INSERT INTO broadcasts (id, project_id, live_stream_id, state, started_at_ms, ended_at_ms, end_reason, protocol, remote_address, encoder)
          VALUES (?, ?, ?, 'live', ?, ?, ?, 'rtmp', '', '')`,
        `br${liveStreamId}${startedAtMs}`,
        projects.production,
        liveStreamId,
        startedAtMs,
        endedAtMs,
        endedAtMs === null ? null : 'completed',
      );
    for (let index = 0; index < 30; index += 1) {
      await stream(`liEnded${index}`, at - 1_800_000 - index);
      await broadcast(`liEnded${index}`, at - 1_800_000, at - 60_000);
    }
    await stream('liTomorrow', at + 24 * hourMs);
    await stream('liSoon', at + hourMs);
    await stream('liLate', at - hourMs / 2);
    await stream('liTested', at + hourMs);
    await stream('liBegun', at - 60_000);
    await stream('liLongPast', at - hourMs - 1);
    await stream('liUnplanned', null);
    await stream('liHidden', at + hourMs, { is_listed: 0 });
    await stream('liSecret', at + hourMs, { is_public: 0 });
    await stream('liForFew', at + hourMs, { playback_policy: restricting });
    await stream('liOnAir', at + hourMs);
    await broadcast('liTested', at - 60_000, at - 30_000);
    await broadcast('liBegun', at - 600_000, at - 1_000);
    await broadcast('liOnAir', at - 1_000, null);
    const announced = await lists.announcedStreams(await channel(), at);
    expect(announced.map(({ liveStreamId }) => liveStreamId)).toEqual([
      'liLate',
      'liSoon',
      'liTested',
      'liTomorrow',
    ]);
    expect(announced[1]).toEqual({ liveStreamId: 'liSoon', name: 'liSoon', startsAtMs: at + hourMs });
    await runSql(database, "DELETE FROM live_streams WHERE id IN ('liOnAir')");
  });

  it('have the logo while the channel is on', async () => {
    const store = new ChannelsStore(database);
    const body = Buffer.from([1, 2, 255, 0]);
    await store.setLogo(projects.production, { body, contentType: 'image/png' }, 7);
    const found = await lists.logo('pier');
    expect([found?.contentType, Buffer.from(found!.body).equals(body)]).toEqual(['image/png', true]);
    expect(await channel()).toMatchObject({ hasLogo: true, updatedAtMs: 7 });
    await runSql(database, 'UPDATE accounts SET is_suspended = 1');
    expect(await lists.logo('pier')).toBeUndefined();
    await runSql(database, 'UPDATE accounts SET is_suspended = 0');
    await turnOn(projects.production, 'pier', false);
    expect(await lists.logo('pier')).toBeUndefined();
  });

  it.runIf(kind === 'SQLite')('are read in the order of their index', async () => {
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
    };
    const explained = new ChannelListsStore(explaining as unknown as Database);
    const of = await channel();
    await explained.videos(of, { limit: 10 }, nowMs);
    await explained.videos(of, { limit: 10, search: 'a', after: { publishedAtMs: 1, videoId: 'vi' } }, nowMs);
    await explained.liveStreams(of);
    await explained.announcedStreams(of, nowMs);
    expect(plans).toContainEqual(expect.stringMatching(/videos_listed/));
    expect(plans).toContainEqual(expect.stringMatching(/live_streams_listed/));
    expect(plans.filter(plan => /^SCAN (?!listed$|s$)/.test(plan))).toEqual([]);
  });
});
