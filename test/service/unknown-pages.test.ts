import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/start-server.ts';

/** Headers that browsers send. */
const html = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  fetch(server.baseUrl + path, { method, headers, redirect: 'manual' });

describe('an unknown address', () => {
  it('shows a browser a page with a way on', async () => {
    const answer = await get('/nobody/lives/here?x=1', html);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(answer.headers.get('vary')).toBe('Accept, Accept-Language');
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    const page = await answer.text();
    expect(page).toContain('<html lang="en" dir="ltr">');
    expect(page).toContain('<h1>Page not found</h1>');
    expect(page).toContain('<a href="/">Go to the start page</a>');
    expect(page).not.toContain('{{');
    for (const [, link = ''] of page.matchAll(/href="(\/assets\/[^"]+)"/g))
      expect([link, (await get(link)).status]).toEqual([link, 200]);
    const head = await get('/nobody', html, 'HEAD');
    expect([head.status, await head.text()]).toEqual([404, '']);
  });

  it.each([
    ['de-AT,de;q=0.9,en;q=0.8', 'lang="de" dir="ltr"', 'Seite nicht gefunden'],
    ['nl, ar;q=0.5, en;q=0.4', 'lang="ar" dir="rtl"', 'لم يتم العثور على الصفحة'],
    ['en;q=0.1, ja', 'lang="ja" dir="ltr"', 'ページが見つかりません'],
    ['fr;q=0, tlh', 'lang="en" dir="ltr"', 'Page not found'],
    [',;;q=,%%,'.repeat(500), 'lang="en" dir="ltr"', 'Page not found'],
  ])('is told in the language of the reader: %s', async (languages, attributes, title) => {
    const page = await (await get('/nobody', { ...html, 'accept-language': languages })).text();
    expect(page).toContain(`<html ${attributes}>`);
    expect(page).toContain(`<title>${title}</title>`);
  });

  it('is an error of the API for everybody else', async () => {
    const accepted = ['*/*', 'application/json, text/html;q=0.9'];
    for (const headers of [{}, ...accepted.map(accept => ({ accept }))] as Record<string, string>[]) {
      const answer = await get('/nobody', headers);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([404, 'application/json']);
      expect(await answer.json()).toMatchObject({ title: 'Unrecognized request URL.' });
    }
    expect((await get('/nobody', html, 'POST')).headers.get('content-type')).toBe('application/json');
  });

  it('is none that the API has', async () => {
    for (const path of ['/videos', '/live-streams', '/videos/vi0000000000000000000000/status']) {
      const answer = await get(path, html);
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([
        path,
        401,
        'application/json',
      ]);
    }
  });

  it('of a video or live stream is told in the language of the reader, too', async () => {
    for (const [path, title] of [
      ['/live/nobody', 'Direct introuvable'],
      ['/vod/nobody', 'Vidéo introuvable'],
    ] as const) {
      const answer = await get(path, { ...html, 'accept-language': 'fr' });
      expect([answer.status, answer.headers.get('vary')]).toEqual([404, 'Accept-Encoding, Accept-Language']);
      const page = await answer.text();
      expect(page).toContain('<html lang="fr" dir="ltr">');
      expect(page).toContain(`<h1>${title}</h1>`);
      expect(page).not.toContain('{{');
    }
  });
});

describe('/favicon.ico', () => {
  it('is the icon of the pages', async () => {
    const answer = await get('/favicon.ico');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/x-icon']);
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(bytes.subarray(0, 6).toString('hex')).toBe('000001000300');
    const etag = answer.headers.get('etag')!;
    expect((await get('/favicon.ico', { 'if-none-match': etag })).status).toBe(304);
    expect((await get('/favicon.ico', {}, 'DELETE')).status).toBe(405);
  });
});
