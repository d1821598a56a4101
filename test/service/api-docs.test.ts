import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorRegister } from '../../src/shared/errors.ts';
import { startApi, type TestApi } from '../support/start-api.ts';

const html = { accept: 'text/html,application/xhtml+xml' };
let server: TestApi;

beforeAll(async () => {
  server = await startApi();
});
afterAll(() => server.stop());

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.baseUrl}${path}`, { headers });
}

describe('the documentation', () => {
  test('is a page with this server’s address that may load nothing from elsewhere', async () => {
    const answer = await get('/docs');
    const page = await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page).toContain(`http://localhost:${server.listener.httpPort}/videos`);
    expect(page).not.toMatch(/\{\{\w+\}\}/);
    expect(page.match(/(?:src|href)="https?:/g)).toBeNull();
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self';");
    expect(policy).not.toMatch(/script-src[^;]*unsafe/);
    expect((await get('/docs/')).status).toBe(200);
  });

  test('names files that may be kept for ever, and answers 304 to who has them', async () => {
    const page = await (await get('/docs')).text();
    const paths = [...page.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(new Set(paths).size).toBe(5);
    for (const path of new Set(paths)) {
      const answer = await get(path, { 'accept-encoding': 'gzip' });
      await answer.arrayBuffer();
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-encoding')).toBe('gzip');
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const again = await get(path, { 'if-none-match': answer.headers.get('etag') ?? '' });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
    expect((await get('/docs/assets/nothing.js')).status).toBe(404);
  });

  test('answers HEAD without a body and other methods with 405', async () => {
    const head = await fetch(`${server.baseUrl}/docs`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const posted = await fetch(`${server.baseUrl}/docs`, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test('explains every error to a browser, and gives programs the facts', async () => {
    for (const code of Object.keys(errorRegister)) {
      const page = await (await get(`/docs/errors/${code}`, html)).text();
      expect(page, code).toContain('<h2>What to do</h2>');
    }
    const facts = await server.call('GET', '/docs/errors/invalid-attribute', { key: null });
    expect(facts.json).toEqual({ code: 'invalid-attribute', title: 'Invalid attributes.', status: 400 });
    const index = await (await get('/docs/errors')).text();
    expect(index).toContain('href="/docs/errors/resource-not-found"');
    expect((await get('/docs/errors/nonsense', html)).status).toBe(404);
  });
});
