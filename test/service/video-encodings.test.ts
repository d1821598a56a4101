import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { Outbox } from '../../src/events/outbox.store.ts';
import { bootstrapAccount } from '../../src/resources/accounts/bootstrap-account.ts';
import { EncodingsStore } from '../../src/resources/videos/encodings/encodings.store.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { silentLogger } from '../../src/shared/logger.ts';
import { Secret } from '../../src/shared/secret.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import type { RenditionName } from '../../src/vod/encoding-repository.ts';
import { testTempDir } from '../support/temp-dir.ts';

const videoId = 'vi0123456789012345678901';
const hls = (quality: string): RenditionName => ({ type: 'hls', quality });
const mp4: RenditionName = { type: 'mp4', quality: '360p' };
const audio: RenditionName = { type: 'audio', quality: 'audio' };
const done = (...names: RenditionName[]) =>
  names.map(name => ({ ...name, file: `hls-1/${name.quality}.index`, facts: {} }));

let database: Database;
let store: EncodingsStore;

beforeEach(async () => {
  database = openDatabase({ dataDir: await testTempDir() });
  onTestFinished(() => database.stop());
  await bootstrapAccount(database, {
    sandboxKey: new Secret('sandbox-key-of-tests-0123456789ab'),
    productionKey: new Secret('production-key-of-tests-0123456789ab'),
    isUpgraded: false,
    adminEmail: 'admin@localhost',
    adminPassword: new Secret('a password of tests'),
  });
  store = new EncodingsStore(database, new Outbox(database, silentLogger), systemClock);
  addVideo();
});

function addVideo(values: { clip?: [number | null, number | null]; watermark?: string } = {}): void {
  const { clip = [null, null], watermark = null } = values;
  const { id } = database.sqlite.prepare('SELECT id FROM projects LIMIT 1').get() as { id: string };
  database.run(
    database.queries.insertInto('videos').values({
      ...{ id: videoId, project_id: id, title: 'A video', title_folded: 'a video', description: '' },
      ...{ is_public: 1, is_panoramic: 0, has_mp4_support: 1, player_id: null, language: null },
      ...{ tags: '[]', metadata: '[]', live_stream_id: null, watermark },
      ...{ clip_start_ms: clip[0], clip_end_ms: clip[1], discarded_at_ms: null, deletes_at_ms: null },
      ...{ created_at_ms: 1, published_at_ms: 1, updated_at_ms: 1 },
    }),
  );
}

function removeVideo(): void {
  database.sqlite.prepare('DELETE FROM videos WHERE id = ?').run(videoId);
}

function told(): string[] {
  const rows = database.sqlite.prepare('SELECT type, payload FROM events ORDER BY id').all() as {
    type: string;
    payload: string;
  }[];
  return rows.map(({ type, payload }) => {
    const { encoding, quality } = JSON.parse(payload) as { encoding: string; quality: string };
    return `${type} ${encoding} ${quality}`;
  });
}

const revision = () => store.state(videoId)?.revision ?? 0;
const statuses = () =>
  store.state(videoId)?.renditions.map(({ type, quality, status }) => `${type} ${quality} ${status}`);

describe('renditions', () => {
  test('wait in the order of the status: rising, then the mp4, then the sound', () => {
    store.setPlan(videoId, {}, [audio, mp4, hls('1080p'), hls('240p'), hls('360p')]);
    expect(statuses()).toEqual([
      ...[
        'hls 240p waiting',
        'hls 360p waiting',
        'hls 1080p waiting',
        'mp4 360p waiting',
        'audio audio waiting',
      ],
    ]);
  });

  test('of audio alone leave no mp4 to be had', () => {
    expect([store.isAudioOnly(videoId), store.findForViewers(videoId)?.mp4Support]).toEqual([false, true]);
    store.setPlan(videoId, {}, [hls('240p'), audio]);
    expect([store.isAudioOnly(videoId), store.findForViewers(videoId)?.mp4Support]).toEqual([false, true]);
    store.setPlan(videoId, {}, [audio]);
    expect([store.isAudioOnly(videoId), store.findForViewers(videoId)?.mp4Support]).toEqual([true, false]);
  });

  test('are planned anew without what was before', () => {
    store.setPlan(videoId, { width: 1 }, [hls('240p')]);
    store.markFinished(videoId, done(hls('240p')), 6);
    store.setPlan(videoId, { width: 2 }, [hls('360p')]);
    expect(store.state(videoId)).toMatchObject({
      ...{ facts: { width: 2 }, isPlayable: false, targetDurationSeconds: undefined, failure: undefined },
      renditions: [{ quality: '360p', status: 'waiting', file: undefined }],
    });
  });

  test('are added once, and removed', () => {
    store.setPlan(videoId, {}, [hls('360p')]);
    store.addRendition(videoId, mp4);
    store.markFinished(videoId, done(mp4));
    store.addRendition(videoId, mp4);
    expect(statuses()).toEqual(['hls 360p waiting', 'mp4 360p encoded']);
    store.removeRendition(videoId, mp4);
    expect(statuses()).toEqual(['hls 360p waiting']);
  });

  test('begin at nothing, go on in whole percents, and end at all', () => {
    const progress = () => store.state(videoId)?.renditions[0]?.progressPercent;
    store.setPlan(videoId, {}, [hls('240p')]);
    store.markStarted(videoId, [hls('240p')]);
    store.updateProgress(videoId, [hls('240p')], 41.9);
    expect(progress()).toBe(41);
    store.markFinished(videoId, done(hls('240p')), 4);
    expect(progress()).toBe(100);
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
  ])('%s', (_, wanted, finished, isPlayable) => {
    store.setPlan(videoId, {}, wanted);
    store.markFinished(videoId, done(...finished), 4);
    expect(store.state(videoId)?.isPlayable).toBe(isPlayable);
    expect(store.findForViewers(videoId)?.isPlayable).toBe(isPlayable);
  });

  test('still when the mp4 is finished later, and keeps its target duration', () => {
    store.setPlan(videoId, {}, [hls('360p'), mp4]);
    store.markFinished(videoId, done(hls('360p')), 7);
    store.markFinished(videoId, done(mp4));
    expect(store.state(videoId)).toMatchObject({ isPlayable: true, targetDurationSeconds: 7 });
  });

  test('still when nothing more came of it: it has not failed', () => {
    store.setPlan(videoId, {}, [hls('240p'), hls('360p'), mp4]);
    store.markFinished(videoId, done(hls('240p')), 4);
    store.markRefused(videoId, 'No.');
    expect(store.state(videoId)).toMatchObject({ isPlayable: true, failure: undefined });
    expect(store.findForViewers(videoId)).toMatchObject({ isPlayable: true, hasFailed: false });
    expect(statuses()).toEqual(['hls 240p encoded', 'hls 360p failed', 'mp4 360p failed']);
  });

  test('never when nothing came of it', () => {
    store.setPlan(videoId, {}, [hls('240p'), audio]);
    store.markFinished(videoId, done(hls('240p')), 4);
    store.markRefused(videoId, 'No.');
    expect(store.state(videoId)).toMatchObject({ isPlayable: false, failure: 'No.' });
    expect(store.findForViewers(videoId)).toMatchObject({ isPlayable: false, hasFailed: true });
  });

  test('not by viewers when it is discarded, though the work on it goes on', () => {
    store.setPlan(videoId, {}, [hls('240p')]);
    store.markFinished(videoId, done(hls('240p')), 4);
    database.sqlite
      .prepare('UPDATE videos SET is_discarded = 1, discarded_at_ms = 1, deletes_at_ms = 2')
      .run();
    expect(store.findForViewers(videoId)).toBeUndefined();
    expect(store.request(videoId)).toBeDefined();
  });
});

describe('events', () => {
  test('tell of each quality once, not of the sound', () => {
    store.setPlan(videoId, {}, [hls('240p'), hls('360p'), mp4, audio]);
    store.markFinished(videoId, done(hls('240p'), audio), 4);
    store.markFinished(videoId, done(hls('240p'), hls('360p')), 4);
    store.markFinished(videoId, done(mp4));
    store.markFinished(videoId, done(mp4));
    const type = 'video.encoding.quality.completed';
    expect(told()).toEqual([`${type} hls 240p`, `${type} hls 360p`, `${type} mp4 360p`]);
  });

  test('tell nothing of a quality that nobody wants any more', () => {
    store.setPlan(videoId, {}, [hls('360p'), mp4]);
    store.removeRendition(videoId, mp4);
    store.markFinished(videoId, done(mp4));
    expect(told()).toEqual([]);
    expect(statuses()).toEqual(['hls 360p waiting']);
  });

  test('are not told of what was rolled back', () => {
    store.setPlan(videoId, {}, [hls('240p')]);
    const fault = new Error('no');
    expect(() =>
      store.transaction(() => {
        store.markFinished(videoId, done(hls('240p')), 4);
        throw fault;
      }),
    ).toThrow(fault);
    expect(told()).toEqual([]);
    expect(statuses()).toEqual(['hls 240p waiting']);
  });
});

describe('a failure', () => {
  const failures = () =>
    database.sqlite
      .prepare<[], { type: string; payload: string }>(
        `SELECT type, payload FROM events WHERE type LIKE '%.failed' ORDER BY id`,
      )
      .all()
      .map(({ type, payload }) => [type, JSON.parse(payload)]);

  test('of the encoding is told with its reason, and with whether the video still plays', () => {
    store.setPlan(videoId, {}, [hls('240p'), hls('360p')]);
    store.markRefused(videoId, 'Unusable.');
    expect(store.hasFailed(videoId)).toBe(true);
    store.setPlan(videoId, {}, [hls('240p'), hls('360p'), mp4]);
    store.markFinished(videoId, done(hls('240p')), 4);
    store.markRefused(videoId, 'Broken.');
    store.markFailed(videoId, [mp4], 'No MP4.');
    store.markFailed(videoId, [], 'Nothing was to be made.');
    expect(store.hasFailed(videoId)).toBe(false);
    expect(failures()).toEqual([
      ['video.encoding.failed', { videoId, reason: 'Unusable.', playable: false }],
      ['video.encoding.failed', { videoId, reason: 'Broken.', playable: true }],
      ['video.encoding.failed', { videoId, reason: 'No MP4.', playable: true }],
    ]);
  });

  test('of the source is told with its reason, and with the live stream of a recording', () => {
    store.sourceFailed(videoId, 'Not found.');
    database.sqlite.prepare("UPDATE videos SET live_stream_id = 'li1'").run();
    store.sourceFailed(videoId, 'Not joined.');
    expect(failures()).toEqual([
      ['video.source.failed', { videoId, reason: 'Not found.' }],
      ['video.source.failed', { videoId, reason: 'Not joined.', liveStreamId: 'li1' }],
    ]);
  });

  test('is forgotten when another source comes', () => {
    store.setPlan(videoId, { width: 640 }, [hls('240p'), mp4]);
    store.markStoryboardReady(videoId);
    store.markRefused(videoId, 'Unusable.');
    const before = revision();
    store.reset(videoId);
    expect(revision()).toBeGreaterThan(before);
    expect(store.state(videoId)).toMatchObject({
      ...{ facts: {}, failure: undefined, hasStoryboard: false, renditions: [] },
    });
    expect(store.hasFailed(videoId)).toBe(false);
  });
});

describe('the revision', () => {
  test('grows with all that changes what viewers get, and not with progress', () => {
    const seen = [revision()];
    const noting = (work: () => void) => {
      work();
      seen.push(revision());
    };
    noting(() => store.setPlan(videoId, {}, [hls('240p'), mp4]));
    noting(() => store.markChanged(videoId));
    noting(() => store.markFinished(videoId, done(hls('240p')), 4));
    noting(() => store.markStoryboardReady(videoId));
    noting(() => store.removeRendition(videoId, mp4));
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(new Set(seen).size).toBe(seen.length);
    const before = revision();
    store.markStarted(videoId, [hls('240p')]);
    store.updateProgress(videoId, [hls('240p')], 50);
    expect(revision()).toBe(before);
  });
});

describe('a video that is gone', () => {
  test('is written nothing of', () => {
    store.setPlan(videoId, {}, [hls('240p')]);
    removeVideo();
    store.setPlan(videoId, {}, [hls('240p')]);
    store.markStarted(videoId, [hls('240p')]);
    store.updateProgress(videoId, [hls('240p')], 5);
    store.markFinished(videoId, done(hls('240p')), 4);
    store.markFailed(videoId, [hls('240p')], 'No.');
    store.markRefused(videoId, 'No.');
    store.sourceFailed(videoId, 'No.');
    store.reset(videoId);
    store.markChanged(videoId);
    store.markStoryboardReady(videoId);
    store.addRendition(videoId, mp4);
    expect([store.request(videoId), store.state(videoId), store.findForViewers(videoId)]).toEqual([
      ...[undefined, undefined, undefined],
    ]);
    expect(told()).toEqual([]);
    expect(database.sqlite.prepare('SELECT count(*) AS count FROM renditions').get()).toEqual({ count: 0 });
  });
});

describe('what its owner wants', () => {
  test.each<[[number | null, number | null], unknown]>([
    [[null, null], undefined],
    [[500, null], { startMs: 500, endMs: undefined }],
    [[null, 900], { startMs: 0, endMs: 900 }],
    [[500, 900], { startMs: 500, endMs: 900 }],
  ])('a clip of %j', (clip, expected) => {
    removeVideo();
    addVideo({ clip, watermark: '{"left":"1px"}' });
    expect(store.request(videoId)).toMatchObject({ mp4Support: true, watermark: { left: '1px' } });
    expect(store.request(videoId)?.clip).toEqual(expected);
  });
});
