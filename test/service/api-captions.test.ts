import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TextTracksStore } from '../../src/resources/videos/text-tracks/text-tracks.store.ts';
import { formWith } from '../support/images.ts';
import { runSql, singleValue } from '../support/sql.ts';
import { productionKey, startApi, type TestApi } from '../support/start-api.ts';

let server: TestApi;
let now = Date.UTC(2026, 2, 4, 5, 6, 7);
let videoId: string;
beforeAll(async () => {
  server = await startApi({
    isUpgraded: true,
    clock: { nowMs: () => now, monotonicMs: () => performance.now() },
  });
});
afterAll(() => server.stop());
beforeEach(async () => {
  videoId = await createVideo();
});

const vtt = Buffer.from('WEBVTT\n\n00:00.000 --> 00:02.000\nBonjour\n');
const createVideo = async (attributes: Record<string, unknown> = {}): Promise<string> =>
  (await server.call('POST', '/videos', { body: { title: 'Harbour', ...attributes } })).json.videoId;
const pathOf = (kind: string, language?: string, id = videoId) =>
  `/videos/${id}/${kind}${language === undefined ? '' : `/${language}`}`;
const upload = (kind: string, language: string, bytes = vtt) =>
  server.call('POST', pathOf(kind, language), { body: formWith(['file', bytes, 'a.vtt']) });
const get = (kind: string, language?: string) => server.call('GET', pathOf(kind, language));
const files = () => {
  const folder = join(server.dataDir, 'vod', videoId);
  return existsSync(folder) ? readdirSync(folder) : [];
};
const listed = async (kind: string) =>
  (await get(kind)).json.data.map(
    (item: { srclang?: string; language?: string }) => item.srclang ?? item.language,
  );

describe('captions', () => {
  it('are uploaded for a video without a source, and shown', async () => {
    const answer = await upload('captions', 'fr-CA');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      uri: `/videos/${videoId}/captions/fr-CA`,
      src: `http://localhost:${server.listener.httpPort}/vod/${videoId}/captions/fr-CA.vtt`,
      srclang: 'fr-CA',
      languageName: 'Français (Canada)',
      default: false,
    });
    expect((await get('captions', 'fr-CA')).json).toEqual(answer.json);
    expect(readFileSync(join(server.dataDir, 'vod', videoId, files()[0]!))).toEqual(vtt);
  });

  it('of the source replace generated ones, and no others', async () => {
    const store = new TextTracksStore(server.database);
    const track = (language: string, file: string) => ({ videoId, language, file, bytes: 9 });
    const unnamed = await server.database.transaction(async transaction => {
      const generated = { kind: 'captions', isDefault: true, isGenerated: true } as const;
      await store.put({ ...track('en', 'generated.vtt'), ...generated }, transaction);
      const uploaded = { ...generated, isDefault: false, isGenerated: false };
      await store.put({ ...track('fr', 'own.vtt'), ...uploaded }, transaction);
      const files: (string | undefined)[] = [];
      for (const language of ['en', 'fr', 'de']) {
        files.push(await store.add(track(language, `${language}.vtt`), transaction));
      }
      return files;
    });
    expect(unnamed).toEqual(['generated.vtt', 'fr.vtt', undefined]);
    const stored = await store.list(videoId, 'captions');
    expect(stored.map(({ file, isGenerated, isDefault }) => [file, isGenerated, isDefault])).toEqual([
      ['de.vtt', false, false],
      ['en.vtt', false, true],
      ['own.vtt', false, false],
    ]);
  });

  it('are one for a language, whatever the case of its tag', async () => {
    expect((await upload('captions', 'ZH-hans-cn')).json.srclang).toBe('zh-Hans-CN');
    await upload('captions', 'zh-Hans-CN');
    expect(await listed('captions')).toEqual(['zh-Hans-CN']);
    expect((await get('captions', 'zh-HANS-cn')).status).toBe(200);
  });

  it('are replaced by another file, stay the default, and leave no file behind', async () => {
    await upload('captions', 'en');
    await server.call('PATCH', pathOf('captions', 'en'), { body: { default: true } });
    const other = Buffer.from('\ufeffWEBVTT\r\n\r\nthis is none');
    expect((await upload('captions', 'en', other)).json).toMatchObject({ srclang: 'en', default: true });
    expect(files()).toHaveLength(1);
    expect(readFileSync(join(server.dataDir, 'vod', videoId, files()[0]!))).toEqual(other);
  });

  it('have one default a video, the one that was set last', async () => {
    for (const language of ['en', 'fr']) await upload('captions', language);
    const patch = async (language: string, body: unknown) =>
      (await server.call('PATCH', pathOf('captions', language), { body })).json;
    expect(await patch('en', { default: true })).toMatchObject({ srclang: 'en', default: true });
    expect(await patch('fr', { default: true })).toMatchObject({ srclang: 'fr', default: true });
    const defaults = async () =>
      (await get('captions')).json.data.map((item: { default: boolean }) => item.default);
    expect(await defaults()).toEqual([false, true]);
    expect(await patch('fr', {})).toMatchObject({ default: true });
    expect(await patch('en', { default: false })).toMatchObject({ default: false });
    expect(await defaults()).toEqual([false, true]);
    expect(await patch('fr', { default: false })).toMatchObject({ default: false });
    expect(await defaults()).toEqual([false, false]);
  });

  it.each([{ default: 'yes' }, { default: null }, { language: 'en' }])('refuse %j', async body => {
    await upload('captions', 'en');
    expect((await server.call('PATCH', pathOf('captions', 'en'), { body })).status).toBe(400);
  });

  it('of a private video have a token in their addresses', async () => {
    videoId = await createVideo({ public: false });
    await upload('captions', 'en');
    expect((await get('captions', 'en')).json.src).toMatch(
      new RegExp(`/vod/${videoId}/token/[0-9a-f-]{36}/captions/en\\.vtt$`),
    );
  });
});

describe('an SRT file', () => {
  const cues = (count: number) =>
    Array.from(
      { length: count },
      (_, at) => `${at + 1}\r\n00:00:00,${at % 900} --> 00:00:01,000\r\nÇa va & <i>${at}</i>\r\n\r\n`,
    );

  it.each(['captions', 'chapters'])('becomes WebVTT as %s, also across chunks of the file', async kind => {
    const answer = await upload(kind, 'fr', Buffer.from(`\ufeff${cues(3_000).join('')}`));
    expect([answer.status, answer.json.detail]).toEqual([200, undefined]);
    expect(files()).toHaveLength(1);
    const lines = readFileSync(join(server.dataDir, 'vod', videoId, files()[0]!), 'utf8').split('\n');
    expect(lines).toHaveLength(1 + 3_000 * 3 + 1);
    expect(lines.slice(0, 4)).toEqual([
      'WEBVTT',
      '',
      '00:00:00.000 --> 00:00:01.000',
      'Ça va &amp; <i>0</i>',
    ]);
    expect(lines.slice(-2)).toEqual(['Ça va &amp; <i>2999</i>', '']);
    expect(readdirSync(join(server.dataDir, 'incoming'))).toEqual([]);
  });

  it.each([
    ['text', 'Hello\n'],
    ['a page', '<html>\n<body>1 --> 2</body>\n'],
    ['one long line', 'x'.repeat(200_000)],
    ['bytes', Buffer.from([1, 0, 2, 0xff])],
    ['a cue that is cut off', '1\n00:00:01,000'],
  ])('that has no cue is refused: %s', async (_, content) => {
    const { status, json } = await upload('captions', 'en', Buffer.from(content as string));
    expect(json).toMatchObject({ title: 'The uploaded file is invalid.', name: 'file' });
    expect(json.detail).toMatch(/^No cue was found: .* Upload a WebVTT/);
    expect(status).toBe(400);
    expect(files()).toEqual([]);
    expect(readdirSync(join(server.dataDir, 'incoming'))).toEqual([]);
  });

  it('that becomes too large is refused', async () => {
    const text = `${'&'.repeat(9_000)}\n`.repeat(800);
    const { json } = await upload('captions', 'en', Buffer.from(`${cues(1)[0]!.trimEnd()}\n${text}`));
    expect(json).toMatchObject({ status: 400, title: 'The uploaded file is too large.' });
    expect(readdirSync(join(server.dataDir, 'incoming'))).toEqual([]);
  });
});

describe.each(['captions', 'chapters'])('%s that are not quite WebVTT', kind => {
  const stored = () => readFileSync(join(server.dataDir, 'vod', videoId, files()[0]!), 'utf8');

  it('are stored as it, with warnings that stay until they are replaced', async () => {
    const file = '1\n00:00.000 --> 00:01.000\n\n2\n00:01.000 --> 0:04\nTwo\n';
    const answer = await upload(kind, 'en', Buffer.from(file));
    expect([answer.status, answer.json.warnings]).toEqual([
      200,
      ['Line 1: The first line was not WEBVTT: it was added.'],
    ]);
    expect(stored()).toBe('WEBVTT\n\n00:00:00.000 --> 00:00:01.000\n\n00:00:01.000 --> 00:00:04.000\nTwo\n');
    expect((await get(kind, 'en')).json).toEqual(answer.json);
    expect((await get(kind)).json.data).toEqual([answer.json]);
    expect((await upload(kind, 'en')).json.warnings).toBeUndefined();
    expect((await get(kind, 'en')).json.warnings).toBeUndefined();
  });

  it('are converted to UTF-8 from the encoding of their language', async () => {
    const file = Buffer.concat([
      Buffer.from('WEBVTT\n\n00:00.000 --> 00:02.000\n'),
      // "Привет" in Windows-1251.
      Buffer.from('cff0e8e2e5f2', 'hex'),
    ]);
    const { json } = await upload(kind, 'ru', file);
    expect(json.warnings).toEqual(['The text was converted from WINDOWS-1251 to UTF-8.']);
    expect(stored()).toBe('WEBVTT\n\n00:00.000 --> 00:02.000\nПривет\n');
  });
});

describe('chapters', () => {
  it('are uploaded, shown, listed, replaced and deleted', async () => {
    const answer = await upload('chapters', 'en');
    expect(answer.status).toBe(200);
    expect(answer.json).toEqual({
      uri: `/videos/${videoId}/chapters/en`,
      src: `http://localhost:${server.listener.httpPort}/vod/${videoId}/chapters/en.vtt`,
      language: 'en',
    });
    await upload('captions', 'de');
    expect((await upload('chapters', 'EN')).json.language).toBe('en');
    expect((await get('chapters', 'en')).json).toEqual(answer.json);
    expect(await listed('chapters')).toEqual(['en']);
    expect((await server.call('DELETE', pathOf('chapters', 'en'))).status).toBe(204);
    expect(await listed('chapters')).toEqual([]);
    expect(await listed('captions')).toEqual(['de']);
  });

  it('cannot be changed in place', async () => {
    await upload('chapters', 'en');
    const answer = await server.call('PATCH', pathOf('chapters', 'en'), { body: { default: true } });
    expect(answer.status).toBe(405);
    expect(answer.json.title).toBe('Method is not allowed for this route.');
  });

  it('are not found by a tag that is none, which cannot be uploaded', async () => {
    expect((await get('chapters', 'xx')).json).toMatchObject({ status: 404, name: 'language' });
    expect((await upload('chapters', 'xx')).json).toMatchObject({ status: 400, name: 'language' });
  });
});

describe.each(['captions', 'chapters'])('%s', kind => {
  it('are listed by pages, in the order of their tags', async () => {
    for (const language of ['fr', 'de', 'sr-Latn']) await upload(kind, language);
    expect(await listed(kind)).toEqual(['de', 'fr', 'sr-Latn']);
    const page = (await server.call('GET', `${pathOf(kind)}?currentPage=2&pageSize=2`)).json;
    expect(page.data).toHaveLength(1);
    expect(page.pagination).toMatchObject({
      currentPage: 2,
      itemsTotal: 3,
      pagesTotal: 2,
      currentPageItems: 1,
    });
    expect(page.pagination.links[0].uri).toBe(`${pathOf(kind)}?currentPage=2&pageSize=2`);
    expect((await server.call('GET', `${pathOf(kind)}?sortBy=language`)).status).toBe(400);
    expect((await server.call('GET', `${pathOf(kind)}?pageSize=101`)).status).toBe(400);
  });

  it('are deleted with their file, once', async () => {
    await upload(kind, 'en');
    const gone = await server.call('DELETE', pathOf(kind, 'en'));
    expect([gone.status, gone.text, gone.headers.get('content-type')]).toEqual([204, '', null]);
    expect(files()).toEqual([]);
    const again = await server.call('DELETE', pathOf(kind, 'en'));
    expect(again.json).toMatchObject({ status: 404, name: 'language' });
  });

  it.each([
    ['There is no uploaded file in the request.', () => formWith(['file', vtt])],
    [
      'There is more than one uploaded file in the request.',
      () => formWith(['a', vtt, 'a.vtt'], ['b', vtt, 'b.vtt']),
    ],
    ['The uploaded file is empty.', () => formWith(['a', Buffer.alloc(0), 'a.vtt'])],
    ['The uploaded file is too large.', () => formWith(['a', Buffer.alloc(8 * 1_024 * 1_024 + 1), 'a.vtt'])],
  ])('refuse a form: %s', async (title, body) => {
    const answer = await server.call('POST', pathOf(kind, 'en'), { body: body() });
    expect(answer.json).toMatchObject({ status: 400, title, name: 'file' });
    expect(await listed(kind)).toEqual([]);
    expect(files()).toEqual([]);
    expect(readdirSync(join(server.dataDir, 'incoming'))).toEqual([]);
  });

  it.each([
    ['fr_FR', /must contain only letters and dashes \(for example "fr", "fr-BE"\)\.$/],
    ['fr%20', /must contain only letters and dashes/],
    ['fr-XX', /^The "language" attribute is not valid\.$/],
    ['__proto__', /must contain only letters and dashes/],
    ['constructor', /is not valid/],
  ])('refuse the language %s', async (tag, detail) => {
    const answer = await upload(kind, tag);
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({ title: 'Invalid attributes.', name: 'language' });
    expect(answer.json.problems).toEqual([
      expect.objectContaining({ name: 'language', detail: expect.stringMatching(detail) }),
    ]);
  });

  it('say what is not there: the video, or the language', async () => {
    expect((await get(kind, 'en')).json).toMatchObject({ status: 404, name: 'language' });
    for (const [method, language] of [
      ['GET', undefined],
      ['GET', 'en'],
      ['DELETE', 'en'],
      ['GET', 'not a tag'],
    ] as const) {
      const path = pathOf(kind, language, 'viUnknown');
      expect((await server.call(method, path)).json).toMatchObject({ status: 404, name: 'videoId' });
    }
    const path = pathOf(kind, 'en', 'viUnknown');
    const sent = await server.call('POST', path, { body: formWith(['file', vtt, 'a.vtt']) });
    expect(sent.json).toMatchObject({ status: 404, name: 'videoId' });
  });

  it('belong to the project of their video', async () => {
    await upload(kind, 'en');
    for (const [method, language] of [
      ['GET', undefined],
      ['GET', 'en'],
      ['DELETE', 'en'],
      ['POST', 'en'],
    ] as const) {
      const body = method === 'POST' ? { body: formWith(['file', vtt, 'a.vtt']) } : {};
      const answer = await server.call(method, pathOf(kind, language), { key: productionKey, ...body });
      expect(answer.json).toMatchObject({ status: 404, name: 'videoId' });
    }
    expect(await listed(kind)).toEqual(['en']);
  });

  it('note that their video was changed, and go with it', async () => {
    now += 60_000;
    await upload(kind, 'en');
    const changedAt = async () => (await server.call('GET', `/videos/${videoId}`)).json.updatedAt;
    const after = new Date(now).toISOString().replace('.000Z', '+00:00');
    expect(await changedAt()).toBe(after);
    now += 60_000;
    await server.call('DELETE', pathOf(kind, 'en'));
    expect(await changedAt()).not.toBe(after);

    await upload(kind, 'en');
    await server.call('DELETE', `/videos/${videoId}`);
    expect((await get(kind, 'en')).json).toMatchObject({ status: 404, name: 'videoId' });
    const left = 'SELECT count(*) FROM text_tracks WHERE video_id = ?';
    expect(await singleValue(server.database, left, videoId)).toBe(0);
  });

  it('are no more than allowed when several are uploaded at the same time', async () => {
    await runSql(
      server.database,
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 698)
       INSERT INTO text_tracks (video_id, kind, language, is_default, file, bytes)
       SELECT ?, ?, 'x' || i, 0, 'x' || i, 1 FROM n`,
      ...[videoId, kind],
    );
    const answers = await Promise.all(['de', 'en', 'es', 'fr', 'it'].map(language => upload(kind, language)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 400, 400, 400]);
    expect(files()).toHaveLength(2);
  });

  it('keep one file when a language is uploaded several times at once', async () => {
    const answers = await Promise.all([vtt, vtt, vtt, vtt].map(bytes => upload(kind, 'en', bytes)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(files()).toHaveLength(1);
    expect(await listed(kind)).toEqual(['en']);
  });
});
