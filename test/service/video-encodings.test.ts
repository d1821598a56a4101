import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Outbox } from '../../src/events/outbox.store.ts';
import { CodecRenditionsStore } from '../../src/resources/videos/videos/encodings/codec-renditions.store.ts';
import { EncodingsStore } from '../../src/resources/videos/videos/encodings/encodings.store.ts';
import { VideosStore } from '../../src/resources/videos/videos/videos.store.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import type { Transaction } from '../../src/store/connection.ts';
import type { Database } from '../../src/store/database.ts';
import type { RenditionName } from '../../src/vod/encoding-repository.ts';
import { addFirstAccount } from '../support/first-account.ts';
import { rowsOf, runSql, singleValue } from '../support/sql.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { type DatabaseKind, databaseKinds, openTestDatabase } from '../support/test-database.ts';

const videoId = 'vi0123456789012345678901';
const hls = (quality: string): RenditionName => ({ type: 'hls', quality });
const mp4: RenditionName = { type: 'mp4', quality: '360p' };
const audio: RenditionName = { type: 'audio', quality: 'audio' };
const done = (...names: RenditionName[]) =>
  names.map(name => ({ ...name, file: `hls-1/${name.quality}.index`, renditionMetadata: {} }));

type EventRow = { readonly type: string; readonly payload: string };

let database: Database;
let store: EncodingsStore;

beforeEach(() => openStore());

async function openStore(kind?: DatabaseKind): Promise<void> {
  database = await openTestDatabase(await testTempDir(), kind);
  onTestFinished(() => database.stop());
  await addFirstAccount(database);
  store = new EncodingsStore(database, new Outbox(database, silentLogger), systemClock);
  await addVideo();
}

async function addVideo(values: { clip?: [number | null, number | null]; watermark?: string } = {}) {
  const { clip = [null, null], watermark = null } = values;
  const projectId = (await singleValue<string>(database, 'SELECT id FROM projects LIMIT 1'))!;
  await database.run(
    database.queries.insertInto('videos').values({
      id: videoId,
      project_id: projectId,
      title: 'A video',
      title_folded: 'a video',
      description: '',
      is_public: 1,
      is_panoramic: 0,
      has_mp4_support: 1,
      player_id: null,
      language: null,
      tags: '[]',
      metadata: '[]',
      live_stream_id: null,
      watermark,
      clip_start_ms: clip[0],
      clip_end_ms: clip[1],
      discarded_at_ms: null,
      deletes_at_ms: null,
      created_at_ms: 1,
      published_at_ms: 1,
      updated_at_ms: 1,
    }),
  );
}

const sourceFailed = (reason: string) =>
  store.transaction(transaction => store.sourceFailed(videoId, reason, transaction));
const reset = () => store.transaction(transaction => store.reset(videoId, transaction));

async function removeVideo(): Promise<void> {
  await runSql(database, 'DELETE FROM videos WHERE id = ?', videoId);
}

async function told(): Promise<string[]> {
  const rows = await rowsOf<EventRow>(database, 'SELECT type, payload FROM events ORDER BY id');
  return rows.map(({ type, payload }) => {
    const { encoding, quality } = JSON.parse(payload) as { encoding: string; quality: string };
    return `${type} ${encoding} ${quality}`;
  });
}

const revision = async () => (await store.state(videoId))?.revision ?? 0;
const statuses = async () =>
  (await store.state(videoId))?.renditions.map(({ type, quality, status }) => `${type} ${quality} ${status}`);

describe('renditions', () => {
  test('wait in the order of the status: rising, then the mp4, then the sound', async () => {
    await store.setPlan(videoId, {}, [audio, mp4, hls('1080p'), hls('240p'), hls('360p')]);
    expect(await statuses()).toEqual([
      ...[
        'hls 240p waiting',
        'hls 360p waiting',
        'hls 1080p waiting',
        'mp4 360p waiting',
        'audio audio waiting',
      ],
    ]);
  });

  test('of audio alone leave no mp4 to be had', async () => {
    const videos = new VideosStore(database);
    const projectId = (await singleValue<string>(database, 'SELECT id FROM projects LIMIT 1'))!;
    const scope = { projectId, isDiscarded: false };
    const page = { sort: { field: 'createdAt', direction: 'asc' }, currentPage: 1, pageSize: 1 } as const;
    const audioOnly = async () => [
      (await videos.find(scope, videoId))?.isAudioOnly,
      (await videos.list(scope, {}, page)).items[0]?.isAudioOnly,
      (await store.findForViewers(videoId))?.mp4Support,
    ];
    expect(await audioOnly()).toEqual([false, false, true]);
    await store.setPlan(videoId, {}, [hls('240p'), audio]);
    expect(await audioOnly()).toEqual([false, false, true]);
    await store.setPlan(videoId, {}, [audio]);
    expect(await audioOnly()).toEqual([true, true, false]);
  });

  test('are planned anew without what was before', async () => {
    await store.setPlan(videoId, { width: 1 }, [hls('240p')]);
    await store.markFinished(videoId, done(hls('240p')), 6);
    await store.setPlan(videoId, { width: 2 }, [hls('360p')]);
    expect(await store.state(videoId)).toMatchObject({
      sourceMetadata: { width: 2 },
      isPlayable: false,
      targetDurationSeconds: undefined,
      failure: undefined,
      renditions: [{ quality: '360p', status: 'waiting', file: undefined }],
    });
  });

  test('are added once, and removed', async () => {
    await store.setPlan(videoId, {}, [hls('360p')]);
    await store.addRendition(videoId, mp4);
    await store.markFinished(videoId, done(mp4));
    await store.addRendition(videoId, mp4);
    expect(await statuses()).toEqual(['hls 360p waiting', 'mp4 360p encoded']);
    await store.removeRendition(videoId, mp4);
    expect(await statuses()).toEqual(['hls 360p waiting']);
  });

  test('begin at nothing, go on in whole percents, and end at all', async () => {
    const progress = async () => (await store.state(videoId))?.renditions[0]?.progressPercent;
    await store.setPlan(videoId, {}, [hls('240p')]);
    await store.markStarted(videoId, [hls('240p')]);
    await store.updateProgress(videoId, [hls('240p')], 41.9);
    expect(await progress()).toBe(41);
    await store.markFinished(videoId, done(hls('240p')), 4);
    expect(await progress()).toBe(100);
  });
});

describe('a video can be played', () => {
  test.each<[string, RenditionName[], RenditionName[], boolean]>([
    ['with one rung and the sound', [hls('240p'), hls('360p'), audio], [hls('240p'), audio], true],
    ['not with a rung alone, where there is sound', [hls('240p'), audio], [hls('240p')], false],
    ['not with the sound alone, where there is a picture', [hls('240p'), audio], [audio], false],
    ['without sound, where there is none', [hls('240p')], [hls('240p')], true],
    ['without a picture, where there is none', [audio], [audio], true],
    ['not by its mp4', [hls('360p'), mp4], [mp4], false],
  ])('%s', async (_, wanted, finished, isPlayable) => {
    await store.setPlan(videoId, {}, wanted);
    await store.markFinished(videoId, done(...finished), 4);
    expect((await store.state(videoId))?.isPlayable).toBe(isPlayable);
    expect((await store.findForViewers(videoId))?.isPlayable).toBe(isPlayable);
  });

  test('still when the mp4 is finished later, and keeps its target duration', async () => {
    await store.setPlan(videoId, {}, [hls('360p'), mp4]);
    await store.markFinished(videoId, done(hls('360p')), 7);
    await store.markFinished(videoId, done(mp4));
    expect(await store.state(videoId)).toMatchObject({ isPlayable: true, targetDurationSeconds: 7 });
  });

  test('still when nothing more came of it: it has not failed', async () => {
    await store.setPlan(videoId, {}, [hls('240p'), hls('360p'), mp4]);
    await store.markFinished(videoId, done(hls('240p')), 4);
    await store.markRefused(videoId, 'No.');
    expect(await store.state(videoId)).toMatchObject({ isPlayable: true, failure: undefined });
    expect(await store.findForViewers(videoId)).toMatchObject({ isPlayable: true, hasFailed: false });
    expect(await statuses()).toEqual(['hls 240p encoded', 'hls 360p failed', 'mp4 360p failed']);
  });

  test('never when nothing came of it', async () => {
    await store.setPlan(videoId, {}, [hls('240p'), audio]);
    await store.markFinished(videoId, done(hls('240p')), 4);
    await store.markRefused(videoId, 'No.');
    expect(await store.state(videoId)).toMatchObject({ isPlayable: false, failure: 'No.' });
    expect(await store.findForViewers(videoId)).toMatchObject({ isPlayable: false, hasFailed: true });
  });

  test('not by viewers when it is discarded, though the work on it goes on', async () => {
    await store.setPlan(videoId, {}, [hls('240p')]);
    await store.markFinished(videoId, done(hls('240p')), 4);
    await runSql(database, 'UPDATE videos SET is_discarded = 1, discarded_at_ms = 1, deletes_at_ms = 2');
    expect(await store.findForViewers(videoId)).toBeUndefined();
    expect(await store.request(videoId)).toBeDefined();
  });
});

describe('events', () => {
  test('tell of each quality once, not of the sound', async () => {
    await store.setPlan(videoId, {}, [hls('240p'), hls('360p'), mp4, audio]);
    await store.markFinished(videoId, done(hls('240p'), audio), 4);
    await store.markFinished(videoId, done(hls('240p'), hls('360p')), 4);
    await store.markFinished(videoId, done(mp4));
    await store.markFinished(videoId, done(mp4));
    const type = 'video.encoding.quality.completed';
    expect(await told()).toEqual([`${type} hls 240p`, `${type} hls 360p`, `${type} mp4 360p`]);
  });

  test('tell nothing of a quality that nobody wants any more', async () => {
    await store.setPlan(videoId, {}, [hls('360p'), mp4]);
    await store.removeRendition(videoId, mp4);
    await store.markFinished(videoId, done(mp4));
    expect(await told()).toEqual([]);
    expect(await statuses()).toEqual(['hls 360p waiting']);
  });

  test('are not told of what was rolled back', async () => {
    await store.setPlan(videoId, {}, [hls('240p')]);
    const fault = new Error('no');
    const work = store.transaction(async transaction => {
      await store.markFinished(videoId, done(hls('240p')), 4, transaction);
      throw fault;
    });
    await expect(work).rejects.toThrow(fault);
    expect(await told()).toEqual([]);
    expect(await statuses()).toEqual(['hls 240p waiting']);
  });
});

describe('a failure', () => {
  const failures = async () =>
    (
      await rowsOf<EventRow>(
        database,
        "SELECT type, payload FROM events WHERE type LIKE '%.failed' ORDER BY id",
      )
    ).map(({ type, payload }) => [type, JSON.parse(payload)]);

  test('of the encoding is told with its reason, and with whether the video still plays', async () => {
    await store.setPlan(videoId, {}, [hls('240p'), hls('360p')]);
    await store.markRefused(videoId, 'Unusable.');
    expect(await store.hasFailed(videoId)).toBe(true);
    await store.setPlan(videoId, {}, [hls('240p'), hls('360p'), mp4]);
    await store.markFinished(videoId, done(hls('240p')), 4);
    await store.markRefused(videoId, 'Broken.');
    await store.markFailed(videoId, [mp4], 'No MP4.');
    await store.markFailed(videoId, [], 'Nothing was to be made.');
    expect(await store.hasFailed(videoId)).toBe(false);
    expect(await failures()).toEqual([
      ['video.encoding.failed', { videoId, reason: 'Unusable.', playable: false }],
      ['video.encoding.failed', { videoId, reason: 'Broken.', playable: true }],
      ['video.encoding.failed', { videoId, reason: 'No MP4.', playable: true }],
    ]);
  });

  test('of the source is told with its reason, and with the live stream of a recording', async () => {
    await sourceFailed('Not found.');
    await runSql(database, "UPDATE videos SET live_stream_id = 'li1'");
    await sourceFailed('Not joined.');
    expect(await failures()).toEqual([
      ['video.source.failed', { videoId, reason: 'Not found.' }],
      ['video.source.failed', { videoId, reason: 'Not joined.', liveStreamId: 'li1' }],
    ]);
  });

  test('is forgotten when another source comes', async () => {
    await store.setPlan(videoId, { width: 640 }, [hls('240p'), mp4]);
    await store.markStoryboardReady(videoId);
    await store.markRefused(videoId, 'Unusable.');
    const before = await revision();
    await reset();
    expect(await revision()).toBeGreaterThan(before);
    expect(await store.state(videoId)).toMatchObject({
      sourceMetadata: {},
      failure: undefined,
      hasStoryboard: false,
      renditions: [],
    });
    expect(await store.hasFailed(videoId)).toBe(false);
  });
});

describe('the revision', () => {
  test('grows with all that changes what viewers get, and not with progress', async () => {
    const seen = [await revision()];
    const noting = async (work: () => Promise<void>) => {
      await work();
      seen.push(await revision());
    };
    await noting(() => store.setPlan(videoId, {}, [hls('240p'), mp4]));
    await noting(() => store.markChanged(videoId));
    await noting(() => store.markFinished(videoId, done(hls('240p')), 4));
    await noting(() => store.markStoryboardReady(videoId));
    await noting(() => store.removeRendition(videoId, mp4));
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(new Set(seen).size).toBe(seen.length);
    const before = await revision();
    await store.markStarted(videoId, [hls('240p')]);
    await store.updateProgress(videoId, [hls('240p')], 50);
    expect(await revision()).toBe(before);
  });
});

describe('changes at the same time', () => {
  test('keep each other, and count every revision', async () => {
    const qualities = ['240p', '360p', '480p', '720p', '1080p'];
    await store.setPlan(videoId, {}, []);
    const before = await revision();
    await Promise.all(qualities.map(quality => store.addRendition(videoId, hls(quality))));
    await Promise.all(qualities.map(quality => store.markFinished(videoId, done(hls(quality)), 4)));
    expect(await statuses()).toEqual(qualities.map(quality => `hls ${quality} encoded`));
    expect(await revision()).toBe(before + 10);
    expect(await told()).toHaveLength(5);
  });
});

describe('a video that is gone', () => {
  test('is written nothing of', async () => {
    await store.setPlan(videoId, {}, [hls('240p')]);
    await removeVideo();
    await store.setPlan(videoId, {}, [hls('240p')]);
    await store.markStarted(videoId, [hls('240p')]);
    await store.updateProgress(videoId, [hls('240p')], 5);
    await store.markFinished(videoId, done(hls('240p')), 4);
    await store.markFailed(videoId, [hls('240p')], 'No.');
    await store.markRefused(videoId, 'No.');
    await sourceFailed('No.');
    await reset();
    await store.markChanged(videoId);
    await store.markStoryboardReady(videoId);
    await store.addRendition(videoId, mp4);
    expect(await store.request(videoId)).toBeUndefined();
    expect(await store.state(videoId)).toBeUndefined();
    expect(await store.findForViewers(videoId)).toBeUndefined();
    expect(await told()).toEqual([]);
    expect(await singleValue(database, 'SELECT count(*) FROM renditions')).toBe(0);
  });
});

describe('what its owner wants', () => {
  test.each<[[number | null, number | null], unknown]>([
    [[null, null], undefined],
    [[500, null], { startMs: 500, endMs: undefined }],
    [[null, 900], { startMs: 0, endMs: 900 }],
    [[500, 900], { startMs: 500, endMs: 900 }],
  ])('a clip of %j', async (clip, expected) => {
    await removeVideo();
    await addVideo({ clip, watermark: '{"left":"1px"}' });
    expect(await store.request(videoId)).toMatchObject({ mp4Support: true, watermark: { left: '1px' } });
    expect((await store.request(videoId))?.clip).toEqual(expected);
  });
});

test.each(databaseKinds)('the state in %s is that of one moment', async kind => {
  await openStore(kind);
  const name = hls('360p');
  let isOver = false;
  const changes = (async () => {
    for (let round = 0; round < 20; round += 1) {
      await store.setPlan(videoId, {}, [name]);
      await store.markFinished(videoId, done(name), 6);
    }
    isOver = true;
  })();
  const mixed: unknown[] = [];
  while (!isOver) {
    const states = await Promise.all(Array.from({ length: 8 }, () => store.state(videoId)));
    mixed.push(
      ...states.filter(
        state =>
          state !== undefined &&
          state.isPlayable !== state.renditions.some(({ status }) => status === 'encoded'),
      ),
    );
    await new Promise(resolve => setImmediate(resolve));
  }
  await changes;
  expect(mixed).toEqual([]);
});

describe.each(databaseKinds)('renditions in other codecs, on %s', kind => {
  const av1 = { codec: 'av1', quality: '240p' } as const;
  const hevc = (quality: string) => ({ codec: 'hevc', quality }) as const;
  let codecs: CodecRenditionsStore;
  const inTransaction = (work: (transaction: Transaction) => Promise<void>) => database.transaction(work);
  const codecStatuses = async () =>
    (await store.state(videoId))?.codecRenditions.map(
      one => `${one.codec} ${one.quality} ${one.status} ${one.progressPercent}`,
    );

  beforeEach(async () => {
    await openStore(kind);
    codecs = new CodecRenditionsStore(database, store);
    await store.setPlan(videoId, {}, [hls('240p'), hls('360p')]);
    await inTransaction(transaction => codecs.plan(videoId, [av1, hevc('360p'), hevc('240p')], transaction));
  });

  test('are planned once, beside those of H.264', async () => {
    await inTransaction(transaction => codecs.markStarted(videoId, [hevc('240p')], transaction));
    await inTransaction(transaction => codecs.plan(videoId, [av1, hevc('240p')], transaction));
    expect(await codecStatuses()).toEqual([
      'hevc 240p encoding 0',
      'hevc 360p waiting 0',
      'av1 240p waiting 0',
    ]);
    expect(await statuses()).toEqual(['hls 240p waiting', 'hls 360p waiting']);
    expect((await store.state(videoId))?.isPlayable).toBe(false);
  });

  test('report their progress, and change the revision when they are finished', async () => {
    const heard: unknown[] = [];
    onTestFinished(store.onProgress((id, renditions, percent) => heard.push([id, renditions, percent])));
    const before = (await store.state(videoId))!.revision;
    await codecs.updateProgress(videoId, [av1], 41.5);
    await inTransaction(transaction =>
      codecs.markFinished(
        videoId,
        [{ ...av1, file: 'av1-7/240p.mp4.index', renditionMetadata: { width: 1 } }],
        transaction,
      ),
    );
    expect(heard).toEqual([
      [videoId, [{ type: 'av1', quality: '240p' }], 41.5],
      [videoId, [{ type: 'av1', quality: '240p' }], 100],
    ]);
    const after = (await store.state(videoId))!;
    expect(after.revision).toBe(before + 1);
    expect(after.codecRenditions.at(-1)).toMatchObject({
      status: 'encoded',
      renditionMetadata: { width: 1 },
    });
  });

  test('fail without the other codec, and without the video', async () => {
    await store.markFinished(videoId, done(hls('240p'), hls('360p')), 6);
    await inTransaction(transaction => codecs.failUnfinished(videoId, 'hevc', transaction));
    expect(await codecStatuses()).toEqual(['hevc 240p failed 0', 'hevc 360p failed 0', 'av1 240p waiting 0']);
    expect(await store.state(videoId)).toMatchObject({ isPlayable: true, failure: undefined });
  });

  test('go with the plan and with the video', async () => {
    await store.setPlan(videoId, {}, [hls('240p')]);
    expect(await codecStatuses()).toEqual([]);
    await inTransaction(transaction => codecs.plan(videoId, [av1], transaction));
    await runSql(database, 'DELETE FROM videos');
    expect(await singleValue(database, 'SELECT count(*) FROM codec_renditions')).toBe(0);
  });
});
