import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  insertProject,
  upsert,
  upserts,
} from '../../src/resources/analytics/reports/analytics-statements.store.ts';
import { AccountsStore } from '../../src/resources/identity/accounts/accounts.store.ts';
import type { VideoFilter } from '../../src/resources/videos/videos/lists/video-filter.ts';
import type { ListPage, VideoSortField } from '../../src/resources/videos/videos/lists/video-lists.ts';
import type { Video } from '../../src/resources/videos/videos/video.ts';
import { VideosStore } from '../../src/resources/videos/videos/videos.store.ts';
import type { Connection } from '../../src/store/connection.ts';
import type { Database } from '../../src/store/database.ts';
import { foldText } from '../../src/store/folded-text.ts';
import { textQuery } from '../../src/store/raw-query.ts';
import { rowsOf, singleValue } from '../support/sql.ts';
import { makeTempDir, removeDir, testTempDir } from '../support/temp-dir.ts';
import { databaseKinds, openTestDatabase } from '../support/test-database.ts';

const columns: Readonly<Record<VideoSortField, [name: string, column: string]>> = {
  title: ['title', 'title_folded'],
  createdAt: ['creation', 'created_at_ms'],
  publishedAt: ['publication', 'published_at_ms'],
  updatedAt: ['update', 'updated_at_ms'],
  plays: ['plays', 'plays'],
};
const fields = Object.keys(columns) as VideoSortField[];
const words = ['Harbour', 'Été', 'night', 'CITY', 'forest', 'concert'];

const noSource = {
  origin: 'url',
  form: null,
  address: null,
  upload_token: null,
  total: null,
  bytes: null,
  started_at_ms: 1,
  completed_at_ms: null,
  is_joined: 0,
  upload_client: null,
  upload_file_name: null,
  has_created_video: 0,
} as const;

/** The same numbers in each run. */
function randomFrom(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface VideoTextRow {
  id: string;
  title: string;
  description: string;
  tags: string;
  metadata: string;
  live_stream_id: string | null;
  state: string;
  is_public: number;
  created_at_ms: number;
}

function pageOf(ascending: string[], { sort, currentPage, pageSize }: ListPage) {
  const sorted = sort.direction === 'asc' ? ascending : ascending.toReversed();
  return { ids: sorted.slice((currentPage - 1) * pageSize, currentPage * pageSize), total: sorted.length };
}

class Library {
  readonly database: Database;
  readonly store: VideosStore;
  readonly projectIds: readonly [string, string];
  readonly random;
  readonly videos: Video[] = [];
  #made = 0;
  #nowMs = 1_000;

  private constructor(database: Database, seed: number, projectIds: readonly [string, string]) {
    this.random = randomFrom(seed);
    this.database = database;
    this.projectIds = projectIds;
    this.store = new VideosStore(database);
  }

  static async open(database: Database, seed: number): Promise<Library> {
    const accounts = new AccountsStore(database);
    const account = { isUpgraded: true, createdAtMs: 1 };
    const { projectIds } = await database.transaction(transaction =>
      accounts.addAccount(account, transaction),
    );
    return new Library(database, seed, [projectIds.sandbox, projectIds.production]);
  }

  async addMany(count: number, attributes: Partial<Video> = {}): Promise<void> {
    await this.database.transaction(async transaction => {
      for (let made = 0; made < count; made += 1) await this.add(attributes, transaction);
    });
  }

  /** Counts plays as reports of viewers do. */
  async play({ projectId, videoId }: Video, plays: number): Promise<void> {
    await this.database.transaction(async transaction => {
      const project = await transaction.first(
        textQuery<{ number: number }>(transaction, insertProject, [projectId]),
      );
      await upsert(transaction, upserts.totals, [[project!.number, videoId, 'video', plays]]);
    });
  }

  nowMs(): number {
    // Mostly forwards, several in one millisecond, and sometimes back, as clocks do.
    this.#nowMs += this.random(20) === 0 ? -500 : this.random(3);
    return this.#nowMs;
  }

  title(): string {
    return `${words[this.random(words.length)]} ${words[this.random(words.length)]} ${this.random(500)}`;
  }

  async add(attributes: Partial<Video> = {}, connection: Connection = this.database): Promise<void> {
    this.#made += 1;
    const atMs = this.nowMs();
    const video: Video = {
      videoId: `vi${this.random(2 ** 30).toString(36)}-${this.#made}`,
      projectId: this.projectIds[this.random(8) === 0 ? 1 : 0],
      title: this.title(),
      description: this.random(3) === 0 ? `About ${this.title()}` : '',
      public: this.random(6) !== 0,
      panoramic: false,
      mp4Support: true,
      playerId: undefined,
      tags: this.random(2) === 0 ? ['many', `t${this.random(40)}`, 'many'] : [],
      metadata: [
        { key: 'k', value: String(this.random(3)) },
        { key: 'k', value: '2' },
      ].slice(this.random(3)),
      language: undefined,
      liveStreamId: this.random(5) === 0 ? `li${this.random(2)}` : undefined,
      createdAtMs: atMs,
      publishedAtMs: atMs,
      updatedAtMs: atMs,
      discarded: undefined,
      ...attributes,
    };
    const failed = { ...noSource, video_id: video.videoId, status: 'failed', failure: 'Broken.' } as const;
    const begin = async (transaction: Connection) => {
      if (this.random(4) !== 0) return;
      await transaction.run(transaction.queries.insertInto('video_sources').values(failed));
    };
    await this.store.add(video, {}, begin, connection);
    this.videos.push(video);
  }

  /** One of all kinds of changes. */
  async change(): Promise<void> {
    const { random, store, videos } = this;
    const index = random(videos.length);
    const { projectId, videoId } = videos[index]!;
    switch (random(12)) {
      case 0:
        await this.add();
        break;
      case 1:
        await store.remove(projectId, videoId);
        videos.splice(index, 1);
        break;
      case 2:
        await store.discard(projectId, videoId, { atMs: 1, deletesAtMs: 2 });
        break;
      case 3:
        await store.restore(projectId, videoId, this.nowMs(), this.database);
        break;
      case 4:
        await store.touch(projectId, videoId, this.nowMs());
        break;
      case 5:
        await store.change(projectId, videoId, { description: this.title() }, this.nowMs());
        break;
      case 6:
        await store.change(projectId, videoId, { public: random(2) === 0 }, this.nowMs());
        break;
      case 7:
        await this.database.run(
          this.database.queries
            .updateTable('video_sources')
            .set(random(2) === 0 ? { failure: null, status: 'ingesting' } : { failure: 'Broken.' })
            .where('video_id', '=', videoId),
        );
        break;
      case 8:
        await store.change(
          projectId,
          videoId,
          { tags: [`t${random(40)}`], metadata: [{ key: 'k', value: '1' }] },
          this.nowMs(),
        );
        break;
      case 9:
      case 10:
        await this.play(videos[index]!, 1 + random(3));
        break;
      default:
        await store.change(projectId, videoId, { title: this.title() }, this.nowMs());
    }
  }

  list(filter: VideoFilter, page: ListPage, isDiscarded = false) {
    return this.store.list({ projectId: this.projectIds[0], isDiscarded }, filter, page);
  }

  /** Ids of all that a list holds, ascending, by looking at all rows. */
  async matching(filter: VideoFilter, field: VideoSortField, isDiscarded = false): Promise<string[]> {
    const [, column] = columns[field];
    const has = (text: string, needle = '') => needle === '' || foldText(text).includes(foldText(needle));
    const rows = await rowsOf<VideoTextRow>(
      this.database,
      `SELECT id, title, description, tags, metadata, live_stream_id, state, is_public, created_at_ms FROM videos
       WHERE project_id = ? AND is_discarded = ? ORDER BY ${column}, id`,
      this.projectIds[0],
      Number(isDiscarded),
    );
    return rows
      .filter(
        row =>
          has(row.title, filter.title) &&
          has(row.description, filter.description) &&
          (filter.tags ?? []).every(tag => JSON.parse(row.tags).includes(tag)) &&
          [...(filter.metadata ?? [])].every(([key, values]) =>
            values.every(value => row.metadata.includes(JSON.stringify({ key, value }))),
          ) &&
          (filter.liveStreamId === undefined || row.live_stream_id === filter.liveStreamId) &&
          (filter.status === undefined || row.state === filter.status) &&
          (filter.public === undefined || (row.is_public === 1) === filter.public) &&
          (filter.sourceType === undefined ||
            (row.live_stream_id === null) === (filter.sourceType === 'upload')) &&
          (filter.createdFromMs === undefined || row.created_at_ms >= filter.createdFromMs) &&
          (filter.createdToMs === undefined || row.created_at_ms < filter.createdToMs),
      )
      .map(row => row.id);
  }

  async expectRight(
    filter: VideoFilter,
    page: ListPage,
    isDiscarded = false,
    known?: string[],
  ): Promise<void> {
    const matching = known ?? (await this.matching(filter, page.sort.field, isDiscarded));
    const { items: videos, total } = await this.list(filter, page, isDiscarded);
    const found = { ids: videos.map(video => video.videoId), total };
    expect(found, JSON.stringify([filter, page, isDiscarded])).toEqual(pageOf(matching, page));
  }

  page(total: number): ListPage {
    const pageSize = 1 + this.random(100);
    return {
      sort: { field: fields[this.random(fields.length)]!, direction: this.random(2) === 0 ? 'asc' : 'desc' },
      currentPage: 1 + this.random(Math.ceil(total / pageSize) + 1),
      pageSize,
    };
  }

  /** Holds every count against what it counts. */
  async expectCountsToBeRight(): Promise<void> {
    const { database } = this;
    for (const [name, column] of database.dialect === 'sqlite' ? Object.values(columns) : []) {
      const blocks = await rowsOf<{
        project_id: string;
        is_discarded: number;
        first_key: string | number;
        first_id: string;
        videos: number;
      }>(
        database,
        `SELECT * FROM video_blocks_by_${name} ORDER BY project_id, is_discarded, first_key, first_id`,
      );
      const count = async (...values: (string | number)[]) =>
        (await singleValue<number>(
          database,
          `SELECT count(*) FROM videos WHERE project_id = ? AND is_discarded = ? AND (${column}, id) >= (?, ?)`,
          ...values,
        ))!;
      for (const [index, block] of blocks.entries()) {
        const { project_id, is_discarded, first_key, first_id } = block;
        const next = blocks[index + 1];
        const isLast = next?.project_id !== project_id || next.is_discarded !== is_discarded;
        const after = isLast ? 0 : await count(project_id, is_discarded, next.first_key, next.first_id);
        expect(block.videos).toBe((await count(project_id, is_discarded, first_key, first_id)) - after);
        expect(block.videos).toBeLessThanOrEqual(2_000);
      }
      expect(blocks.reduce((sum, block) => sum + block.videos, 0)).toBe(this.videos.length);
    }
    const wrongPlays = await rowsOf(
      database,
      `SELECT v.id FROM videos v JOIN analytics_projects p ON p.project_id = v.project_id
       LEFT JOIN analytics_totals t ON t.project = p.number AND t.media_id = v.id WHERE v.plays <> coalesce(t.plays, 0)`,
    );
    expect(wrongPlays).toEqual([]);
    const wrong = await rowsOf(
      database,
      `SELECT project_id, is_discarded, tag, videos FROM tags
       EXCEPT SELECT project_id, is_discarded, tag, count(*) FROM video_tags GROUP BY 1, 2, 3`,
    );
    expect(wrong).toEqual([]);
    const folded = await rowsOf<{ tag: string; tag_folded: string }>(
      database,
      'SELECT tag, tag_folded FROM tags',
    );
    for (const { tag, tag_folded } of folded) expect(tag_folded).toBe(foldText(tag));
  }
}

describe.each(databaseKinds)('lists of many videos on %s', kind => {
  let library: Library;
  let folder: string;
  beforeAll(async () => {
    folder = await makeTempDir();
    library = await Library.open(await openTestDatabase(folder, kind), 7);
    await library.addMany(kind === 'SQLite' ? 7_000 : 1_000);
  });
  afterAll(async () => {
    await library?.database.stop();
    await removeDir(folder);
  });

  const filters: VideoFilter[] = [
    {},
    { title: 'harbour' },
    { title: 'ete NIGHT' },
    { title: 'a' },
    { title: 'ét' },
    { title: ' 17' },
    { title: 'nothing like it' },
    { title: 'r' },
    { description: 'about city' },
    { description: 'e', title: 'concert' },
    { tags: ['many'] },
    { tags: ['t7'] },
    { tags: ['t7', 'many'] },
    { tags: ['Many'] },
    { tags: ['many'], title: 'forest' },
    { metadata: new Map([['k', ['1']]]) },
    { metadata: new Map([['k', ['1']]]), tags: ['t3'], title: 'i' },
    {
      metadata: new Map([
        ['k', ['1']],
        ['other', ['x']],
      ]),
    },
    { metadata: new Map([['k', ['1', '2']]]) },
    { liveStreamId: 'li1' },
    { liveStreamId: 'li1', title: 'e', metadata: new Map([['k', ['2']]]) },
    { title: '', description: '', tags: [], metadata: new Map() },
    { title: '"' },
    { title: "night' OR 1" },
    { title: '%' },
    { title: 'nig*' },
    { status: 'failed' },
    { status: 'empty', sourceType: 'upload' },
    { status: 'ready' },
    { status: 'failed', title: 'concert', tags: ['many'] },
    { public: false },
    { public: true, sourceType: 'liveStream' },
    { sourceType: 'upload', title: 'harbour' },
    { createdFromMs: 1_500, createdToMs: 1_900 },
    { createdFromMs: 1_200, public: true },
  ];

  it.runIf(kind === 'SQLite')('are cut into blocks', async () => {
    const count = 'SELECT count(*) FROM video_blocks_by_title';
    expect(await singleValue<number>(library.database, count)).toBeGreaterThan(4);
    await library.expectCountsToBeRight();
  });

  it.each(filters)('are right for %j on any page in any order', async filter => {
    for (const field of fields) {
      const matching = await library.matching(filter, field);
      for (const direction of ['asc', 'desc'] as const) {
        const { pageSize, currentPage } = library.page(matching.length);
        const last = Math.max(1, Math.ceil(matching.length / pageSize));
        for (const number of [1, currentPage, last, 2_147_483_647]) {
          const page: ListPage = { sort: { field, direction }, currentPage: number, pageSize };
          await library.expectRight(filter, page, false, matching);
        }
      }
    }
  });

  it('stay right through any changes', async () => {
    for (let round = 0; round < 40; round += 1) {
      for (let changes = 0; changes < 40; changes += 1) await library.change();
      const filter = filters[library.random(filters.length)]!;
      const isDiscarded = library.random(4) === 0;
      await library.expectRight(filter, library.page(library.random(9_000) + 1), isDiscarded);
    }
    await library.expectCountsToBeRight();
  });

  it('are of the moment of their answer, whatever happens while it is worked out', async () => {
    const page: ListPage = { sort: { field: 'createdAt', direction: 'asc' }, currentPage: 20, pageSize: 100 };
    for (const title of ['h', 't', 'i', 'e n']) {
      let answer: { ids: string[]; total: number } | undefined;
      let possible: unknown[] = [];
      const atThisMoment = async () => pageOf(await library.matching({ title }, 'createdAt'), page);
      const listing = library.list({ title }, page).then(({ items: videos, total }) => {
        answer = { ids: videos.map(video => video.videoId), total };
      });
      while (answer === undefined) {
        possible = [...possible.slice(-3), await atThisMoment()];
        await library.change();
        await nextTurn();
      }
      await listing;
      expect([...possible, await atThisMoment()]).toContainEqual(answer);
    }
  });

  it('let others have their turn', async () => {
    let isDone = false;
    let turns = 0;
    const listing = Promise.all(
      ['o', 'n', 's', 'c'].map(letter =>
        library.list(
          { description: letter },
          { sort: { field: 'title', direction: 'desc' }, currentPage: 30, pageSize: 10 },
        ),
      ),
    ).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await nextTurn();
      turns += 1;
    }
    await listing;
    expect(turns).toBeGreaterThanOrEqual(3);
  });

  it('are not changed by what was undone', async () => {
    const before = library.videos.length;
    await expect(
      library.database.transaction(async transaction => {
        await library.add({}, transaction);
        await library.add({ tags: ['undone'] }, transaction);
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    library.videos.length = before;
    await library.expectCountsToBeRight();
  });

  it('are right after the database was opened anew, and when they shrink to nothing', async () => {
    await library.database.stop();
    const database = await openTestDatabase(folder, kind);
    Object.assign(library, { database, store: new VideosStore(database) });
    for (const filter of filters.slice(0, 4)) await library.expectRight(filter, library.page(5_000));
    while (library.videos.length > 0) {
      const { projectId, videoId } = library.videos.pop()!;
      await library.store.remove(projectId, videoId);
      if (library.videos.length % 2_500 === 0) await library.expectCountsToBeRight();
    }
    if (kind === 'PostgreSQL') return;
    for (const [name] of Object.values(columns)) {
      // One for each project and state that ever had a video.
      expect(await singleValue(database, `SELECT count(*) FROM video_blocks_by_${name}`)).toBe(4);
    }
    const left = await singleValue<number>(database, 'SELECT count(*) FROM video_texts_stale');
    expect(left).toBeLessThanOrEqual(256);
  });
});

describe.each(databaseKinds)('videos of the same title and time on %s', kind => {
  it('have an order of their own, and no more of a block than any', async () => {
    const library = await Library.open(await openTestDatabase(await testTempDir(), kind), 1);
    onTestFinished(() => library.database.stop());
    const projectId = library.projectIds[0];
    const same = { projectId, title: 'Untitled', createdAtMs: 5, publishedAtMs: 5, updatedAtMs: 5 };
    await library.addMany(4_500, same);
    await library.expectCountsToBeRight();
    for (const filter of [{}, { title: 'untitled' }]) {
      for (const field of fields) {
        const matching = await library.matching(filter, field);
        for (const currentPage of [1, 21, 30, 45]) {
          const page: ListPage = { sort: { field, direction: 'desc' }, currentPage, pageSize: 100 };
          await library.expectRight(filter, page, false, matching);
        }
      }
    }
  });
});

describe.each(databaseKinds)('the plays of a video on %s', kind => {
  it('are those that transactions at the same time have counted, also in the trash and for one project only', async () => {
    const library = await Library.open(await openTestDatabase(await testTempDir(), kind), 5);
    const { database, store, projectIds } = library;
    onTestFinished(() => database.stop());
    await library.addMany(3, { projectId: projectIds[0] });
    const [first, second, third] = library.videos as [Video, Video, Video];
    const trashed = { atMs: 1, deletesAtMs: 2 };
    await store.discard(third.projectId, third.videoId, trashed);
    await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        library.play([first, second, third][index % 3]!, 1 + (index % 3)),
      ),
    );
    await library.play({ ...first, projectId: projectIds[1] }, 900);
    const page: ListPage = { sort: { field: 'plays', direction: 'desc' }, currentPage: 1, pageSize: 10 };
    const listed = async (isDiscarded = false) =>
      (await library.list({}, page, isDiscarded)).items.map(video => video.videoId);
    const playsOf = ({ videoId }: Video) =>
      singleValue<number>(database, 'SELECT plays FROM videos WHERE id = ?', videoId);
    expect(await Promise.all(library.videos.map(playsOf))).toEqual([4, 8, 12]);
    expect(await listed()).toEqual([second.videoId, first.videoId]);
    expect(await listed(true)).toEqual([third.videoId]);
    await store.restore(third.projectId, third.videoId, 5, database);
    expect(await listed()).toEqual([third.videoId, second.videoId, first.videoId]);
  });

  it('are counted with those of the analytics, or not at all', async () => {
    const library = await Library.open(await openTestDatabase(await testTempDir(), kind), 6);
    const { database } = library;
    onTestFinished(() => database.stop());
    await library.addMany(1);
    const [video] = library.videos as [Video];
    await library.play(video, 2);
    await expect(
      database.transaction(async transaction => {
        await transaction.run(textQuery(transaction, 'UPDATE analytics_totals SET plays = plays + 5', []));
        expect(await singleValue(transaction, 'SELECT plays FROM videos')).toBe(7);
        throw new Error('the server ended here');
      }),
    ).rejects.toThrow('the server ended here');
    expect(await singleValue(database, 'SELECT plays FROM videos')).toBe(2);
    await library.expectCountsToBeRight();
  });
});

describe.each(databaseKinds)('the state of a video on %s', kind => {
  it('follows its source and renditions', async () => {
    const folder = await testTempDir();
    const library = await Library.open(await openTestDatabase(folder, kind), 3);
    const { database } = library;
    onTestFinished(() => database.stop());
    const projectId = library.projectIds[0];
    await library.add({ projectId, videoId: 'vi1', liveStreamId: undefined }, database);
    await database.run(database.queries.deleteFrom('video_sources'));
    await database.run(database.queries.updateTable('videos').set({ state: 'empty' }));
    const { queries } = database;
    const stateAfter = async (change: Parameters<Database['run']>[0]) => {
      await database.run(change);
      return singleValue<string>(database, "SELECT state FROM videos WHERE id = 'vi1'");
    };
    const source = { ...noSource, video_id: 'vi1', status: 'uploading', failure: null } as const;
    const hls = {
      video_id: 'vi1',
      type: 'hls',
      position: 1,
      progress_percent: 0,
      file: null,
      facts: null,
    } as const;
    const rendition = (quality: string, status: 'waiting' | 'encoded' | 'failed') =>
      queries.updateTable('renditions').set({ status }).where('quality', '=', quality);
    const encodings = queries.updateTable('video_encodings');

    expect(await stateAfter(queries.insertInto('video_sources').values(source))).toBe('processing');
    expect(await stateAfter(queries.updateTable('video_sources').set({ status: 'uploaded' }))).toBe(
      'processing',
    );
    const encoding = {
      video_id: 'vi1',
      facts: '{}',
      target_duration_seconds: null,
      failure: null,
      audio_tracks: null,
    };
    expect(await stateAfter(queries.insertInto('video_encodings').values(encoding))).toBe('processing');
    const planned = ['240p', '720p'].map(quality => ({ ...hls, quality, status: 'waiting' as const }));
    expect(await stateAfter(queries.insertInto('renditions').values(planned))).toBe('processing');
    expect(await stateAfter(rendition('240p', 'failed'))).toBe('processing');
    expect(await stateAfter(rendition('720p', 'failed'))).toBe('failed');
    expect(await stateAfter(rendition('720p', 'waiting'))).toBe('processing');
    await database.run(rendition('720p', 'encoded'));
    expect(await stateAfter(encodings.set({ is_playable: 1 }))).toBe('ready');
    // A rendition that failed later leaves the others playable.
    expect(await stateAfter(encodings.set({ failure: 'No space.' }))).toBe('ready');
    expect(await stateAfter(encodings.set({ is_playable: 0 }))).toBe('failed');
  });
});

describe('how a page is found', () => {
  it('looks in indexes for the few that are in a state, private, or new', async () => {
    const database = await openTestDatabase(await testTempDir(), 'SQLite');
    onTestFinished(() => database.stop());
    for (const [condition, index] of [
      ["state = 'failed'", 'videos_by_state (project_id=? AND is_discarded=? AND state=?)'],
      ['is_public = 0', 'videos_private (project_id=? AND is_discarded=?)'],
      ['created_at_ms >= 5', 'videos_by_creation (project_id=? AND is_discarded=? AND created_at_ms>?)'],
    ]) {
      const [step] = await rowsOf<{ detail: string }>(
        database,
        `EXPLAIN QUERY PLAN SELECT number FROM videos WHERE project_id = 'p' AND is_discarded = 0 AND ${condition} LIMIT 9`,
      );
      expect(step?.detail).toContain(`COVERING INDEX ${index}`);
    }
  });

  it('never looks at all rows, nor sorts them', async () => {
    const database = await openTestDatabase(await testTempDir(), 'SQLite');
    onTestFinished(() => database.stop());
    for (const [name, column] of Object.values(columns)) {
      const steps = await rowsOf<{ detail: string }>(
        database,
        `EXPLAIN QUERY PLAN SELECT v.number FROM videos v INDEXED BY videos_by_${name}
           WHERE v.project_id = 'p' AND v.is_discarded = 0 AND (v.${column}, v.id) >= (1, 'a')
             AND (v.${column}, v.id) < (2, 'b') ORDER BY v.${column}, v.id LIMIT 10 OFFSET 5`,
      );
      const plan = steps.map(row => row.detail).join('; ');
      expect(plan).toContain(
        `COVERING INDEX videos_by_${name} (project_id=? AND is_discarded=? AND (${column},id)>(?,?) AND (${column},id)<(?,?))`,
      );
      expect(plan).not.toContain('TEMP B-TREE');
    }
  });
});
