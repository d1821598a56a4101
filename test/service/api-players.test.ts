import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PlayersService } from '../../src/resources/playback/players/players.service.ts';
import { PlayersStore } from '../../src/resources/playback/players/players.store.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { MediaFiles } from '../../src/storage/media-files.ts';
import { formWith, pngImage, webpImage } from '../support/images.ts';
import { rowsOf, runSql, singleValue } from '../support/sql.ts';
import { productionKey, startApi, type TestApi } from '../support/start-api.ts';

let server: TestApi;
let now = Date.UTC(2026, 2, 4, 5, 6, 7);
beforeAll(async () => {
  server = await startApi({
    isUpgraded: true,
    clock: { nowMs: () => now, monotonicMs: () => performance.now() },
  });
});
afterAll(() => server.stop());

const png = pngImage(20, 10);
const create = async (body: Record<string, unknown> = {}) =>
  (await server.call('POST', '/players', { body })).json;
const pathOf = ({ playerId }: { playerId: string }) => `/players/${playerId}`;
const sendLogo = (player: { playerId: string }, body: FormData) =>
  server.call('POST', `${pathOf(player)}/logo`, { body });
const filesOf = ({ playerId }: { playerId: string }) => {
  const folder = join(server.dataDir, 'players', playerId);
  return existsSync(folder) ? readdirSync(folder) : [];
};

const usual = {
  text: 'rgba(255, 255, 255, 1)',
  link: 'rgba(255, 255, 255, 1)',
  linkHover: 'rgba(255, 255, 255, 1)',
  linkActive: 'rgba(255, 255, 255, 1)',
  trackPlayed: 'rgba(88, 131, 255, .95)',
  trackUnplayed: 'rgba(255, 255, 255, .35)',
  trackBackground: 'rgba(255, 255, 255, .2)',
  backgroundTop: 'rgba(0, 0, 0, .7)',
  backgroundBottom: 'rgba(0, 0, 0, .7)',
  backgroundText: 'rgba(255, 255, 255, 1)',
  enableApi: true,
  enableControls: true,
  forceAutoplay: false,
  hideTitle: false,
  forceLoop: false,
};

describe('a player theme', () => {
  it('is made of nothing, and looks as usual', async () => {
    const answer = await server.call('POST', '/players', { body: {} });
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      playerId: expect.stringMatching(/^pl[0-9A-Za-z]{22}$/),
      ...usual,
      createdAt: '2026-03-04T05:06:07+00:00',
      updatedAt: '2026-03-04T05:06:07+00:00',
      assets: { logo: null, link: null },
    });
    expect((await server.call('GET', pathOf(answer.json))).json).toEqual(answer.json);
  });

  it('keeps what is given as it was sent, and drops what old clients send', async () => {
    const given = {
      name: 'Night',
      trackPlayed: 'rgba(1,2,3,0.5)',
      text: 'rgba( 0 , 0 , 0 , 1.0 )',
      enableApi: false,
      forceLoop: true,
    };
    const made = await create({ ...given, shapeMargin: 3, shapeBackgroundTop: 'red', language: 'en' });
    expect(made).toMatchObject({ ...usual, ...given });
    expect(made).not.toHaveProperty('shapeMargin');
    expect(made).not.toHaveProperty('language');
  });

  it('is changed in what is sent', async () => {
    const made = await create({ name: 'Night', hideTitle: true });
    now += 1_000;
    const patch = async (body: unknown) => (await server.call('PATCH', pathOf(made), { body })).json;
    expect(await patch({ linkActive: 'rgba(1, 2, 3, 1)', enableControls: false })).toEqual({
      ...made,
      linkActive: 'rgba(1, 2, 3, 1)',
      enableControls: false,
      updatedAt: new Date(now).toISOString().replace('.000Z', '+00:00'),
    });
    expect(await patch({ name: null })).not.toHaveProperty('name');
    expect((await patch({})).linkActive).toBe('rgba(1, 2, 3, 1)');
  });

  it.each([
    ['name', 'x'.repeat(101)],
    ['name', 'a\u0000b'],
    ['name', 1],
    ['text', 'red'],
    ['text', 'rgba(256, 0, 0, 1)'],
    ['text', 'rgba(0, 0, 0, 1.5)'],
    ['text', 'rgba(0, 0, 0)'],
    ['text', 'rgba(0, 0, 0, 1); background: url(x)'],
    ['link', null],
    ['enableApi', 'true'],
    ['color', 'rgba(0, 0, 0, 1)'],
    ['constructor', 1],
    ['assets', {}],
  ])('refuses %s: %j', async (name, value) => {
    const made = await create();
    for (const [method, path] of [
      ['POST', '/players'],
      ['PATCH', pathOf(made)],
    ] as const) {
      const answer = await server.call(method, path, { body: { [name]: value } });
      expect([answer.status, answer.json.name]).toEqual([400, name]);
    }
  });

  it('belongs to one project', async () => {
    const made = await create({ name: 'Mine' });
    await sendLogo(made, formWith(['file', png, 'a.png']));
    for (const [method, path, options] of [
      ['GET', pathOf(made), {}],
      ['PATCH', pathOf(made), { body: { name: 'x' } }],
      ['DELETE', pathOf(made), {}],
      ['POST', `${pathOf(made)}/logo`, { body: formWith(['file', png, 'a.png']) }],
      ['DELETE', `${pathOf(made)}/logo`, {}],
    ] as const) {
      const answer = await server.call(method, path, { key: productionKey, ...options });
      expect(answer.json).toMatchObject({ status: 404, name: 'playerId' });
    }
    const foreign = await server.call('GET', '/players', { key: productionKey });
    expect(foreign.json).toMatchObject({ data: [], pagination: { itemsTotal: 0 } });
    expect((await server.call('GET', pathOf(made))).json.name).toBe('Mine');
  });
});

describe('the list of player themes', () => {
  it('is sorted by name, creation and change, and counts what is there', async () => {
    const key = productionKey;
    const call = async (method: string, path: string, body?: unknown) =>
      (await server.call(method, path, { key, body })).json;
    const ids: string[] = [];
    for (const name of ['beta', 'Álpha', 'gamma']) {
      now += 1_000;
      ids.push((await call('POST', '/players', { name })).playerId);
    }
    now += 1_000;
    await call('PATCH', `/players/${ids[0]}`, { hideTitle: true });
    const namesOf = async (query: string) =>
      (await call('GET', `/players${query}`)).data.map(({ name }: { name: string }) => name);
    expect(await namesOf('')).toEqual(['gamma', 'Álpha', 'beta']);
    expect(await namesOf('?sortBy=name')).toEqual(['Álpha', 'beta', 'gamma']);
    expect(await namesOf('?sortBy=updatedAt&sortOrder=desc')).toEqual(['beta', 'gamma', 'Álpha']);
    await call('DELETE', `/players/${ids[1]}`);
    const page = await call('GET', '/players?currentPage=2&pageSize=1&sortBy=name');
    expect(page.data).toHaveLength(1);
    expect(page.pagination).toMatchObject({ itemsTotal: 2, pagesTotal: 2 });
    expect((await server.call('GET', '/players?sortBy=text')).status).toBe(400);
  });
});

describe('a logo', () => {
  it('is shown with its link as it was sent, wherever in the form that stood', async () => {
    const made = await create();
    const answer = await sendLogo(
      made,
      formWith(['logo.png', png, 'logo.png'], ['link', Buffer.from('./a b')]),
    );
    expect(answer.status).toBe(201);
    expect(answer.json.assets).toEqual({
      logo: `http://localhost:${server.listener.httpPort}/player/${made.playerId}/logo.png`,
      link: './a b',
    });
    expect(readFileSync(join(server.dataDir, 'players', made.playerId, filesOf(made)[0]!))).toEqual(png);

    const before = filesOf(made);
    const again = await sendLogo(
      made,
      formWith(['link', Buffer.from('')], ['file', pngImage(200, 100), 'x']),
    );
    expect(again.json.assets.link).toBe('');
    expect((await sendLogo(made, formWith(['file', png, 'x']))).json.assets.link).toBeNull();
    expect(filesOf(made)).toHaveLength(1);
    expect(filesOf(made)).not.toEqual(before);
  });

  it('is deleted with its link, again and again', async () => {
    const made = await create();
    await sendLogo(made, formWith(['link', Buffer.from('https://brand.example.net')], ['file', png, 'x']));
    for (let time = 0; time < 2; time += 1) {
      const answer = await server.call('DELETE', `${pathOf(made)}/logo`);
      expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([204, '', null]);
    }
    expect((await server.call('GET', pathOf(made))).json.assets).toEqual({ logo: null, link: null });
    expect(filesOf(made)).toEqual([]);
  });

  const extensions = "Only ['jpg', 'JPG', 'jpeg', 'JPEG', 'png', 'PNG'] extensions are supported.";
  it.each([
    [extensions, () => formWith(['a', webpImage, 'a.png'])],
    [extensions, () => formWith(['a', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'a.png'])],
    ['There is no uploaded file in the request.', () => formWith(['link', Buffer.from('x')])],
    ['The uploaded file is empty.', () => formWith(['a', Buffer.alloc(0), 'a.png'])],
    ['The uploaded file is too large.', () => formWith(['a', Buffer.alloc(100 * 1_024 + 1), 'a.png'])],
    ['The uploaded file is invalid.', () => formWith(['a', pngImage(201, 1), 'a.png'])],
    ['The uploaded file is invalid.', () => formWith(['a', pngImage(1, 101), 'a.png'])],
    ['The uploaded file is invalid.', () => formWith(['a', png.subarray(0, 20), 'a.png'])],
  ])('is refused: %s', async (title, body) => {
    const made = await create();
    const answer = await sendLogo(made, body());
    expect(answer.json).toMatchObject({ status: 400, title, name: 'file' });
    expect((await server.call('GET', pathOf(made))).json).toEqual(made);
    expect(filesOf(made)).toEqual([]);
    expect(readdirSync(join(server.dataDir, 'incoming'))).toEqual([]);
  });

  it('is refused with a link that is too long', async () => {
    const made = await create();
    const form = formWith(['file', png, 'a.png'], ['link', Buffer.alloc(2_049, 'x')]);
    expect((await sendLogo(made, form)).json).toMatchObject({ status: 400, name: 'link' });
    expect(filesOf(made)).toEqual([]);
  });
});

describe('changes of a player theme at the same time', () => {
  it('keep each other', async () => {
    const made = await create({ name: 'Night' });
    const change = (body: object) => server.call('PATCH', pathOf(made), { body });
    await Promise.all([change({ forceLoop: true }), change({ hideTitle: true }), change({ name: 'Day' })]);
    expect((await server.call('GET', pathOf(made))).json).toMatchObject({
      name: 'Day',
      forceLoop: true,
      hideTitle: true,
    });
  });

  it('leave one logo', async () => {
    const made = await create();
    await Promise.all([1, 2, 3, 4].map(() => sendLogo(made, formWith(['file', png, 'a.png']))));
    expect(filesOf(made)).toHaveLength(1);
  });
});

describe('what names a player theme', () => {
  it('never keeps one that is deleted at the same time', async () => {
    const { playerId } = await create();
    const make = () => server.call('POST', '/videos', { body: { title: 'Race', playerId } });
    const [deleted, ...made] = await Promise.all([
      server.call('DELETE', pathOf({ playerId })),
      ...[make(), make(), make(), make(), make()],
    ]);
    expect(deleted.status).toBe(204);
    for (const { status } of made) expect([201, 400]).toContain(status);
    await server.api.players.detachRemoved();
    const named = 'SELECT count(*) FROM videos WHERE player_id = ?';
    expect(await singleValue(server.database, named, playerId)).toBe(0);
  });

  it('must name one of its project, and loses it when the theme goes', async () => {
    const { playerId } = await create();
    for (const [collection, body, id] of [
      ['/videos', { title: 'Harbour' }, 'videoId'],
      ['/live-streams', { name: 'Pier' }, 'liveStreamId'],
    ] as const) {
      const foreign = await server.call('POST', collection, {
        body: { ...body, playerId },
        key: productionKey,
      });
      expect(foreign.json).toMatchObject({ status: 400, name: 'playerId' });
      const made = (await server.call('POST', collection, { body })).json;
      const path = `${collection}/${made[id]}`;
      const patch = (value: unknown) => server.call('PATCH', path, { body: { playerId: value } });
      expect((await patch('plUnknown')).json).toMatchObject({ status: 400, name: 'playerId' });
      expect((await patch(playerId)).json.playerId).toBe(playerId);
      expect((await server.call('PATCH', path, { body: {} })).json.playerId).toBe(playerId);
      expect((await patch(null)).json).not.toHaveProperty('playerId');
      await patch(playerId);
    }
    await sendLogo({ playerId }, formWith(['file', png, 'a.png']));
    expect((await server.call('DELETE', `/players/${playerId}`)).status).toBe(204);
    expect(filesOf({ playerId })).toEqual([]);
    for (const collection of ['/videos', '/live-streams']) {
      const [newest] = (await server.call('GET', collection)).json.data;
      expect(newest).not.toHaveProperty('playerId');
    }
  });

  it('loses it at once also where it is named by more than are changed at a time', async () => {
    const { playerId } = await create();
    const { videoId } = (await server.call('POST', '/videos', { body: { title: 'Copied', playerId } })).json;
    await runSql(
      server.database,
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 700)
      INSERT INTO videos (id, project_id, title, title_folded, is_public, is_panoramic, has_mp4_support, player_id, tags, metadata,
        created_at_ms, published_at_ms, updated_at_ms, description)
      SELECT 'viCopy' || CAST(n AS TEXT), project_id, title, title_folded, 1, 0, 1, player_id, '[]', '[]', ${now} + n, 0, 0, ''
      FROM numbers CROSS JOIN videos WHERE videos.id = '${videoId}'`,
    );
    const named = () =>
      singleValue(server.database, 'SELECT count(*) FROM videos WHERE player_id = ?', playerId);
    expect(await named()).toBe(701);
    await server.call('DELETE', `/players/${playerId}`);
    expect(await named()).toBe(651);
    const page = (await server.call('GET', '/videos?title=Copied&pageSize=100')).json;
    expect(page.pagination.itemsTotal).toBe(701);
    for (const video of page.data) expect(video).not.toHaveProperty('playerId');

    expect(await server.api.players.detachRemoved()).toBe(651);
    expect(await named()).toBe(0);
    expect(await rowsOf(server.database, 'SELECT id FROM removed_players')).toEqual([]);
    expect(await server.api.players.detachRemoved()).toBe(0);
  });

  it('leaves no files when a crash comes between its row and them', async () => {
    const made = await create();
    await sendLogo(made, formWith(['file', png, 'a.png']));
    const { database, dataDir } = server;
    await new PlayersStore(database, []).remove(made.playerId);
    expect(filesOf(made)).not.toEqual([]);
    const afterCrash = new PlayersService({
      database,
      store: new PlayersStore(database, []),
      files: new MediaFiles(dataDir),
      baseUrl: () => '',
      clock: systemClock,
    });
    await afterCrash.detachRemoved();
    expect(existsSync(join(dataDir, 'players', made.playerId))).toBe(false);
    expect(await rowsOf(database, 'SELECT id FROM removed_players')).toEqual([]);
  });
});
