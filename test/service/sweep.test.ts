import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSweepRepairs } from '../../src/app/sweep-repairs.ts';
import { acquireBackupLock, removeStaleSnapshots } from '../../src/cli/backup/file-snapshot.ts';
import type { NewJob } from '../../src/jobs/job.ts';
import { LocalLeftovers } from '../../src/operations/housekeeping/local-leftovers.ts';
import { SweepStore } from '../../src/operations/housekeeping/sweep.store.ts';
import { Sweep } from '../../src/operations/housekeeping/sweep.ts';
import { newId } from '../../src/shared/ids.ts';
import type { LogData, Logger } from '../../src/shared/logger.ts';
import { MediaFiles } from '../../src/storage/media-files.ts';
import { EventLoopBlock } from '../support/event-loop-block.ts';
import { rowsOf, runSql } from '../support/sql.ts';
import { sandboxProjectOf, startApi, type TestApi } from '../support/start-api.ts';

const dayMs = 24 * 3_600_000;
const kilobyte = Buffer.alloc(1_024, 7);

let server: TestApi;
let files: MediaFiles;
let lines: { level: string; event: string; data: LogData | undefined }[] = [];
let ordered: NewJob[] = [];
let busy = new Set<string>();

beforeAll(async () => {
  server = await startApi();
  files = new MediaFiles(server.dataDir);
});
beforeEach(async () => {
  lines = [];
  ordered = [];
  busy = new Set();
  for (const table of [
    ...['videos', 'removed_videos', 'live_streams', 'players', 'watermarks', 'database_uses'],
  ]) {
    await run(`DELETE FROM ${table}`);
  }
  for (const root of ['vod', 'uploads', 'live', 'players', 'watermarks'] as const) {
    rmSync(files.root(root), { recursive: true, force: true });
  }
});
afterAll(() => server.stop());

const logger = (): Logger => {
  const note =
    (level: string) =>
    (event: string, data?: LogData): void =>
      void lines.push({ level, event, data });
  const levels = { trace: note('trace'), debug: note('debug'), info: note('info') };
  return { ...levels, warn: note('warn'), error: note('error'), child: logger };
};
/** The sweep of a server `laterMs` from now that has been up for `upMs`; its clock was set forward by `jumpMs` meanwhile. */
async function sweepAt({
  laterMs = 10_000,
  upMs = 0,
  jumpMs = 0,
  removeBackups = () => removeStaleSnapshots(server.dataDir),
} = {}): Promise<Sweep> {
  let up = 0;
  let jump = 0;
  const startedAtMs = Date.now() + laterMs - upMs;
  const sweep = await Sweep.create({
    store: new SweepStore(server.database),
    repairs: createSweepRepairs(server.database),
    files,
    jobs: {
      add: async job => void ordered.push(job),
      has: async () => false,
      remove: async () => {},
      cancel: async () => {},
      pauseDiscarded: async () => {},
      resumeRestored: async () => {},
      awaitRemoved: async () => {},
    },
    isBusy: async videoId => busy.has(videoId),
    leftovers: new LocalLeftovers({
      removeLeftoverBroadcasts: async () => 0,
      removeAbortedBackups: removeBackups,
      log: logger(),
    }),
    observer: { removed: () => {}, repaired: () => {} },
    clock: { nowMs: () => startedAtMs + up + jump, monotonicMs: () => up },
    log: logger(),
  });
  up = upMs;
  jump = jumpMs;
  return sweep;
}
const place = (...path: string[]): string => {
  const file = join(server.dataDir, ...path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, kilobyte);
  return file;
};
const isThere = (...path: string[]) => existsSync(join(server.dataDir, ...path));
const run = (sql: string, ...values: unknown[]) => runSql(server.database, sql, ...values);
const all = <Row>(sql: string, ...values: unknown[]) => rowsOf<Row>(server.database, sql, ...values);
const create = async (): Promise<string> =>
  (await server.call('POST', '/videos', { body: { title: 'Harbour' } })).json.videoId;
const summary = () => lines.find(({ event }) => event === 'sweep-done')?.data as Record<string, unknown>;
const linesOf = (event: string) => lines.filter(line => line.event === event).map(({ data }) => data);

/** A video with two encoded rungs, the sound, an mp4, a thumbnail, captions and a storyboard, and all of its files. */
async function makeFilm(): Promise<{ id: string; thumbnail: string; captions: string }> {
  const id = await create();
  const thumbnail = `thumbnail-${randomUUID()}.jpg`;
  const captions = `captions-en-${randomUUID()}.vtt`;
  await run(
    "INSERT INTO video_sources (video_id, origin, form, status, bytes, started_at_ms) VALUES (?, 'upload', 'plain', 'uploaded', 9, 1)",
    id,
  );
  await run(
    "INSERT INTO video_encodings (video_id, facts, is_playable, has_storyboard) VALUES (?, '{}', 1, 1)",
    id,
  );
  const renditions = [
    ['hls', '240p', 'hls-1/240p.mp4.index'],
    ['hls', '360p', 'hls-2/video.index'],
    ['audio', 'audio', 'hls-1/audio.mp4.index'],
    ['mp4', '360p', 'mp4/source.mp4'],
  ];
  for (const [index, [type, quality, file]] of renditions.entries()) {
    await run(
      "INSERT INTO renditions (video_id, type, quality, position, status, progress_percent, file, facts) VALUES (?, ?, ?, ?, 'encoded', 100, ?, '{}')",
      ...[id, type, quality, index, file],
    );
  }
  await run("INSERT INTO video_thumbnails (video_id, choice, file) VALUES (?, 'default', ?)", id, thumbnail);
  await run(
    "INSERT INTO text_tracks (video_id, kind, language, file, bytes) VALUES (?, 'captions', 'en', ?, 9)",
    id,
    captions,
  );
  for (const name of [
    ...['source', 'hls-1/240p.mp4', 'hls-1/240p.mp4.index', 'hls-2/video.index', 'hls-1/audio.mp4'],
    ...['hls-1/audio.mp4.index', 'mp4/source.mp4', 'storyboard.jpg', 'storyboard.vtt', thumbnail, captions],
  ]) {
    place('vod', id, name);
  }
  return { id, thumbnail, captions };
}
const renditionsOf = async (id: string) => {
  const rows = await all<{ type: string; quality: string; status: string }>(
    'SELECT type, quality, status FROM renditions WHERE video_id = ? ORDER BY position',
    id,
  );
  return rows.map(({ type, quality, status }) => `${type} ${quality} ${status}`);
};
const stateOf = async (id: string) => {
  const columns = 'is_playable, has_storyboard, failure, revision';
  const [state] = await all(`SELECT ${columns} FROM video_encodings WHERE video_id = ?`, id);
  return state;
};
const lose = (id: string, ...names: string[]) => {
  for (const name of names) rmSync(files.video(id, name), { recursive: true });
};

describe('files that no row names', () => {
  it('are removed from every folder', async () => {
    const film = await makeFilm();
    const [lostVideo, lostUpload, lostLive, lostPlayer] = [
      newId('vi'),
      newId('vi'),
      newId('li'),
      newId('pl'),
    ];
    const stream = (await server.call('POST', '/live-streams', { body: { name: 'Pier' } })).json.liveStreamId;
    place('vod', lostVideo, 'hls-7', '240p.mp4');
    place('uploads', lostUpload, '0');
    // Creates a chunk of a complete upload.
    place('uploads', film.id, '0');
    place('live', lostLive, 'thumbnail');
    place('live', stream, 'thumbnail');
    place('players', lostPlayer, `logo-${randomUUID()}.png`);
    place('watermarks', newId('watermark_'));
    place('vod', '.removed-5', 'source');
    place('.backup-6', 'vod', film.id, 'source');
    const backup = acquireBackupLock(server.dataDir);
    expect(await removeStaleSnapshots(server.dataDir)).toBe(0);
    backup.release();
    await (await sweepAt()).run();
    expect(isThere('.backup-6')).toBe(false);
    expect(readdirSync(files.root('vod'))).toEqual([film.id]);
    for (const root of ['uploads', 'players', 'watermarks'] as const) {
      expect(readdirSync(files.root(root)), root).toEqual([]);
    }
    expect(readdirSync(files.root('live'))).toEqual([stream]);
    expect(readdirSync(files.live(stream))).toEqual([]);
    expect(summary().removed).toEqual({
      video: 1,
      upload: 2,
      'live-stream': 1,
      'live-thumbnail': 1,
      player: 1,
      watermark: 1,
      removal: 1,
      backup: 1,
    });
    expect(summary().freedBytes).toBe(8 * 4_096);
    expect(summary().repaired).toEqual({});
  });

  it('that were being removed in a crash are gone a second later, those that may get a row are not', async () => {
    place('vod', '.removed-7', 'source');
    place('uploads', '.removed-8', '0');
    const arriving = newId('vi');
    place('uploads', arriving, '0');
    await (await sweepAt({ laterMs: 1_000 })).run();
    expect(readdirSync(files.root('vod'))).toEqual([]);
    expect(readdirSync(files.root('uploads'))).toEqual([arriving]);
    expect(summary().removed).toEqual({ removal: 2 });
  });

  it('are removed from the folder of a finished video', async () => {
    const { id, thumbnail, captions } = await makeFilm();
    const left = [
      'recording-2.mp4',
      ...[
        'hls-9/720p.mp4',
        'source.partial',
        'source.partial.tag',
        'watermark',
        `thumbnail-${randomUUID()}.png`,
      ],
      ...[`captions-fr-${randomUUID()}.vtt`, `chapters-en-${randomUUID()}.vtt`],
    ];
    for (const name of [...left, 'notes.txt', 'thumbnail-of-mine.jpg']) place('vod', id, name);
    await (await sweepAt()).run();
    expect(readdirSync(files.video(id)).sort()).toEqual(
      [
        ...['source', 'hls-1', 'hls-2', 'mp4', 'storyboard.jpg', 'storyboard.vtt', thumbnail, captions],
        ...['notes.txt', 'thumbnail-of-mine.jpg'],
      ].sort(),
    );
    expect(summary().removed).toEqual({ 'file-of-video': 8 });
  });

  it('are kept while a job or a recording writes to their video', async () => {
    const [film, other] = [await makeFilm(), await makeFilm()];
    await run(
      "INSERT INTO jobs (kind, lane, subject_id, payload, priority, state, run_at_ms, created_at_ms) VALUES ('encode', 'encode', ?, '{}', 0, 'waiting', 1, 1)",
      film.id,
    );
    busy.add(other.id);
    const recorded = newId('vi');
    busy.add(recorded);
    for (const id of [film.id, other.id, recorded]) place('vod', id, 'hls-9', '720p.mp4');
    lose(film.id, 'hls-1');
    await (await sweepAt()).run();
    for (const id of [film.id, other.id, recorded]) expect(isThere('vod', id, 'hls-9')).toBe(true);
    expect(linesOf('video-repaired')).toEqual([]);
  });

  it('are kept while their row may still come', async () => {
    const made = newId('vi');
    place('vod', made, `captions-en-${randomUUID()}.vtt`);
    place('watermarks', newId('watermark_'));
    await (await sweepAt({ laterMs: 0 })).run();
    await (await sweepAt({ laterMs: 0, upMs: dayMs / 2 })).run();
    await (await sweepAt({ laterMs: dayMs - 60_000, upMs: 2 * dayMs })).run();
    // Nothing is older for that.
    await (await sweepAt({ laterMs: 0, jumpMs: 2 * dayMs })).run();
    await (await sweepAt({ laterMs: 0, jumpMs: -2 * dayMs })).run();
    expect(isThere('vod', made)).toBe(true);
    expect(readdirSync(files.root('watermarks'))).toHaveLength(1);
    await (await sweepAt({ laterMs: dayMs + 60_000, upMs: 2 * dayMs })).run();
    expect(isThere('vod', made)).toBe(false);
    expect(readdirSync(files.root('watermarks'))).toEqual([]);
  });

  it('are kept when this server did not create them', async () => {
    for (const name of ['lost+found', 'backup of monday', 'viShort']) place('vod', name, 'a');
    place('watermarks', 'README');
    place('vod', 'a file');
    await (await sweepAt()).run();
    expect(readdirSync(files.root('vod'))).toHaveLength(4);
    expect(lines.map(({ event }) => event)).toEqual(['sweep-done']);
  });

  it('are kept when most files have no row', async () => {
    const film = await makeFilm();
    const ids = Array.from({ length: 11 }, () => newId('vi'));
    for (const id of ids) place('vod', id, 'source');
    await (await sweepAt()).run();
    for (const id of [film.id, ...ids]) expect(isThere('vod', id, 'source')).toBe(true);
    expect(linesOf('sweep-refused')).toEqual([{ reason: 'the database does not refer to most files' }]);
    for (let count = 0; count < 11; count += 1) place('vod', await create(), 'source');
    await (await sweepAt()).run();
    for (const id of ids) expect(isThere('vod', id)).toBe(false);
  });

  it('are kept when they are newer than the restored backup of the database', async () => {
    await makeFilm();
    const [before, later] = [newId('vi'), newId('vi')];
    place('vod', before, 'source');
    place('vod', later, 'source');
    const backedUpAtMs = Date.now() - 3_600_000;
    utimesSync(files.video(before), new Date(), new Date(backedUpAtMs));
    const store = new SweepStore(server.database);
    await store.recordUse({ beganAtMs: backedUpAtMs - dayMs, lastAtMs: backedUpAtMs });
    for (let start = 0; start < 2; start += 1) {
      const sweep = await sweepAt();
      await sweep.recordUse();
      await sweep.run();
      await sweep.recordUse();
      expect([isThere('vod', before), isThere('vod', later)]).toEqual([false, true]);
    }
    expect(linesOf('orphan-kept')).toHaveLength(2);
    expect(linesOf('media-of-another-database')).toHaveLength(2);
    rmSync(files.video(later), { recursive: true });
    await (await sweepAt()).run();
    expect(await store.usePeriods()).toHaveLength(1);
    expect((await store.usePeriods())[0]!.lastAtMs).toBeGreaterThan(backedUpAtMs);
  });

  it('are removed after a server was killed before its first sweep ended, but not after a restore', async () => {
    const store = new SweepStore(server.database);
    await store.recordUse({ beganAtMs: Date.now() - 9 * dayMs, lastAtMs: Date.now() - 3 * dayMs });
    await makeFilm();
    const foreign = newId('vi');
    place('vod', foreign, 'source');
    utimesSync(files.video(foreign), new Date(), new Date(Date.now() - dayMs));
    // Records an hour of use by a server that is then killed.
    await (await sweepAt({ laterMs: -1_800_000 })).recordUse();
    await store.recordUse({ beganAtMs: (await store.usePeriods()).at(-1)!.beganAtMs, lastAtMs: Date.now() });
    const left = newId('vi');
    place('vod', left, 'source');
    for (let start = 0; start < 2; start += 1)
      await (await sweepAt({ laterMs: 3_600_000 + start * dayMs })).run();
    expect([isThere('vod', foreign), isThere('vod', left)]).toEqual([true, false]);
    expect(linesOf('orphan-kept')).toEqual(
      Array(2).fill({ path: `vod/${foreign}`, reason: 'the database was not in use when it was made' }),
    );
  });

  it('are kept when the database is newer', async () => {
    const id = newId('vi');
    place('vod', id, 'source');
    utimesSync(files.video(id), new Date(1), new Date(1));
    await (await sweepAt()).run();
    expect(isThere('vod', id)).toBe(true);
    expect(linesOf('orphan-kept')).toEqual([{ path: `vod/${id}`, reason: 'it is older than the database' }]);
  });

  it('are removed by the next sweep after an interruption', async () => {
    const film = await makeFilm();
    const ids = Array.from({ length: 9 }, () => newId('vi'));
    for (const id of ids) place('vod', id, 'source');
    for (let count = 0; count < 9; count += 1) await create();
    const stopping = new AbortController();
    const sweep = await sweepAt();
    const running = sweep.run(stopping.signal);
    stopping.abort();
    await running;
    expect(lines).toEqual([]);
    // Leaves the folder as a kill in the middle of a removal does.
    files.renameForRemoval(files.video(ids[0]!));
    await (await sweepAt()).run();
    expect(readdirSync(files.root('vod'))).toEqual([film.id]);
  });
});

describe('rows with missing files', () => {
  beforeEach(async () => {
    // Adds intact videos: a lost disk looks different.
    await makeFilm();
  });

  it('are told from complete ones', async () => {
    const { id } = await makeFilm();
    await (await sweepAt()).run();
    expect(linesOf('video-repaired')).toEqual([]);
    expect(await stateOf(id)).toEqual({ is_playable: 1, has_storyboard: 1, failure: null, revision: 0 });
    expect(summary()).toMatchObject({ removed: {}, repaired: {}, freedBytes: 0, videos: 2 });
  });

  it('are rebuilt from the source', async () => {
    const { id } = await makeFilm();
    lose(id, 'hls-1/240p.mp4', 'mp4', 'storyboard.vtt');
    // The rest of another user's backup is no obstacle.
    await (await sweepAt({ removeBackups: () => Promise.reject(new Error('EACCES')) })).run();
    expect(linesOf('backup-not-removed')).toHaveLength(1);
    expect(await renditionsOf(id)).toEqual([
      'hls 240p waiting',
      'hls 360p encoded',
      'audio audio encoded',
      'mp4 360p waiting',
    ]);
    expect(await stateOf(id)).toEqual({ is_playable: 1, has_storyboard: 0, failure: null, revision: 1 });
    expect(ordered.map(({ kind }) => kind)).toEqual(['encode', 'stills']);
    expect(linesOf('video-repaired')).toEqual([
      { videoId: id, lost: ['hls 240p', 'mp4 360p', 'storyboard'], isRebuilt: true },
    ]);
    const { id: second } = await makeFilm();
    lose(second, 'mp4');
    ordered = [];
    await (await sweepAt()).run();
    expect(ordered.filter(({ subjectId }) => subjectId === second).map(({ kind }) => kind)).toEqual(['mp4']);
  });

  it('of other codecs are rebuilt alone', async () => {
    const { id } = await makeFilm();
    for (const [position, codec] of ['hevc', 'av1'].entries()) {
      await run(
        "INSERT INTO codec_renditions (video_id, codec, quality, position, status, file, facts) VALUES (?, ?, '240p', ?, 'encoded', ?, '{}')",
        ...[id, codec, position, `${codec}-1/240p.mp4.index`],
      );
      place('vod', id, `${codec}-1/240p.mp4`);
      place('vod', id, `${codec}-1/240p.mp4.index`);
    }
    place('vod', id, 'av1-2/240p.mp4');
    lose(id, 'hevc-1');
    await (await sweepAt()).run();
    expect(linesOf('video-repaired')).toEqual([{ videoId: id, lost: ['hevc 240p'] }]);
    expect(ordered.map(({ kind }) => kind)).toEqual(['hevc']);
    expect(
      await all('SELECT codec, status FROM codec_renditions WHERE video_id = ? ORDER BY position', id),
    ).toEqual([
      { codec: 'hevc', status: 'waiting' },
      { codec: 'av1', status: 'encoded' },
    ]);
    expect(await stateOf(id)).toMatchObject({ is_playable: 1 });
    expect([existsSync(files.video(id, 'av1-1')), existsSync(files.video(id, 'av1-2'))]).toEqual([
      true,
      false,
    ]);
  });

  it('make a video unplayable when its source is missing too', async () => {
    const { id } = await makeFilm();
    lose(id, 'source', 'hls-1');
    await (await sweepAt()).run();
    expect(await renditionsOf(id)).toEqual([
      'hls 240p failed',
      // Renditions whose segments are in the source.
      'hls 360p failed',
      'audio audio failed',
      'mp4 360p encoded',
    ]);
    expect(await stateOf(id)).toMatchObject({
      is_playable: 0,
      failure: 'The files of this video are missing on the server.',
    });
    expect(ordered).toEqual([]);
    for (const name of ['240p.mp4', '240p.mp4.index', 'audio.mp4', 'audio.mp4.index']) {
      place('vod', id, 'hls-1', name);
    }
    await (await sweepAt()).run();
    expect((await renditionsOf(id))[1]).toBe('hls 360p failed');
    expect(await stateOf(id)).toMatchObject({ is_playable: 1, failure: null });
    expect(linesOf('video-repaired').at(-1)).toMatchObject({ found: ['hls 240p', 'audio audio'] });
  });

  it('of images and captions are cleared', async () => {
    const { id, thumbnail, captions } = await makeFilm();
    const uploaded = await makeFilm();
    await run("UPDATE video_thumbnails SET choice = 'upload' WHERE video_id = ?", uploaded.id);
    lose(id, thumbnail, captions);
    lose(uploaded.id, uploaded.thumbnail);
    await (await sweepAt()).run();
    expect(await all('SELECT choice, file FROM video_thumbnails WHERE video_id = ?', id)).toEqual([
      { choice: 'default', file: null },
    ]);
    expect(await all('SELECT * FROM video_thumbnails WHERE video_id = ?', uploaded.id)).toEqual([]);
    expect((await server.call('GET', `/videos/${id}/captions/en`)).status).toBe(404);
    expect(ordered.map(({ kind, subjectId }) => [kind, subjectId])).toEqual([
      ['frame', id],
      ['frame', uploaded.id],
    ]);
  });

  it('of logos, live thumbnails and watermarks are cleared', async () => {
    const project = await sandboxProjectOf(server.database);
    const player = (await server.call('POST', '/players', { body: { name: 'A' } })).json.playerId;
    await run("UPDATE players SET logo_file = 'logo-1.png', logo_bytes = 9, link = 'x' WHERE id = ?", player);
    const stream = (await server.call('POST', '/live-streams', { body: { name: 'Pier' } })).json.liveStreamId;
    await run("UPDATE live_streams SET thumbnail_type = 'image/png' WHERE id = ?", stream);
    const watermark = newId('watermark_');
    await run(
      "INSERT INTO watermarks (id, project_id, media_type, width, height, created_at_ms) VALUES (?, ?, 'image/png', 1, 1, 1)",
      watermark,
      project,
    );
    for (const root of ['players', 'live'] as const) mkdirSync(files.root(root));
    await (await sweepAt()).run();
    // The folder of all watermarks is away.
    expect((await server.call('GET', '/watermarks')).json.data).toHaveLength(1);
    expect(linesOf('sweep-refused')).toHaveLength(1);
    expect(summary().repaired).toEqual({});
    mkdirSync(files.root('watermarks'));
    lines = [];
    await (await sweepAt()).run();
    expect((await server.call('GET', `/players/${player}`)).json.assets).toEqual({ logo: null, link: null });
    expect(await all('SELECT thumbnail_type FROM live_streams')).toEqual([{ thumbnail_type: null }]);
    expect((await server.call('GET', '/watermarks')).json.data).toEqual([]);
    expect(summary().repaired).toEqual({ player: 1, 'live-stream': 1, watermark: 1 });
  });

  it('get a job when theirs is missing', async () => {
    const [waiting, fresh, hopeless] = [await makeFilm(), await create(), await create()];
    await run(
      "UPDATE renditions SET status = 'encoding', file = NULL WHERE video_id = ? AND quality = '240p'",
      waiting.id,
    );
    for (const id of [fresh, hopeless]) {
      await run(
        "INSERT INTO video_sources (video_id, origin, form, status, bytes, started_at_ms) VALUES (?, 'upload', 'plain', 'uploaded', 9, 1)",
        id,
      );
    }
    place('vod', fresh, 'source');
    await (await sweepAt()).run();
    expect(ordered.map(({ kind, subjectId }) => [kind, subjectId])).toEqual([
      ['encode', waiting.id],
      ['prepare', fresh],
    ]);
    expect(await stateOf(hopeless)).toMatchObject({
      is_playable: 0,
      failure: 'The files of this video are missing on the server.',
    });
    expect(await stateOf(fresh)).toMatchObject({ is_playable: 0, failure: null });
  });

  it('are kept when most files are missing, because the disk is probably not mounted', async () => {
    const films = await Promise.all(Array.from({ length: 12 }, makeFilm));
    for (const { id } of films) rmSync(files.video(id), { recursive: true });
    await (await sweepAt()).run();
    for (const { id } of films) expect(await stateOf(id)).toMatchObject({ is_playable: 1, revision: 0 });
    expect(linesOf('sweep-refused')).toEqual([
      { reason: 'most files that the database refers to are missing' },
    ]);
  });

  it('are kept when the folder of all videos is empty', async () => {
    rmSync(files.root('vod'), { recursive: true });
    await (await sweepAt()).run();
    expect(linesOf('sweep-refused')).toHaveLength(1);
    expect(linesOf('video-repaired')).toEqual([]);
  });
});

it('are checked for two thousand videos without blocking the server', async () => {
  const project = await sandboxProjectOf(server.database);
  const add = `INSERT INTO videos (id, project_id, title, title_folded, is_public, is_panoramic, has_mp4_support, tags, metadata,
       created_at_ms, published_at_ms, updated_at_ms, description) VALUES (?, ?, 'x', 'x', 1, 0, 1, '[]', '[]', 1, 1, 1, '')`;
  await server.database.transaction(async transaction => {
    for (let count = 0; count < 2_000; count += 1) {
      const id = newId('vi');
      await runSql(transaction, add, id, project);
      mkdirSync(files.video(id), { recursive: true });
    }
  });
  const lost = Array.from({ length: 300 }, () => newId('vi'));
  for (const id of lost) mkdirSync(files.video(id, 'hls-1'), { recursive: true });
  const turns = new EventLoopBlock();
  await (await sweepAt()).run();
  expect(turns.stop()).toBeLessThan(250);
  expect(readdirSync(files.root('vod'))).toHaveLength(2_000);
  expect(summary()).toMatchObject({ removed: { video: 300 }, folders: 2_300 });
});
