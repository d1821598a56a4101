import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApi, type TestApi } from '../support/start-api.ts';

/** Headers that browsers send. */
const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const maxFirstLoadBytes = 100_000;
const maxFirstLoadFiles = 14;
/** Text is shown before its typeface is there. */
const maxFontBytes = 50_000;
/** Building takes seconds. */
const maxBlockedMs = 400;
/** Kinds of documents, the manual that an error of a library names, examples in fields and samples: nobody asks for these. */
const namesOnly =
  /^https?:\/\/(github\.com\/preactjs|www\.w3\.org|host|localhost|127\.0\.0\.1|[\w.-]*\bexample(\.(com|net|org))?)(\/|$)/;

/** Libraries bring comments. */
const comment = /(?<=^|\s)\/\/.*$|^\s*\/?\*.*$/gm;

let server: TestApi;
/** Processor time of the main thread until the dashboard was answered first. */
let blockedMs: number;
let page: string;
/** Everything that the page leads to, by its address. */
const files = new Map<string, { readonly text: string; readonly sentBytes: number }>();

beforeAll(async () => {
  server = await startApi();
  await get('/health/live');
  const before = process.threadCpuUsage();
  const answer = await get('/dashboard');
  const { user, system } = process.threadCpuUsage(before);
  blockedMs = (user + system) / 1000;
  page = await answer.text();
  files.set('/dashboard', { text: page, sentBytes: Number(answer.headers.get('content-length')) });
  await readFiles(page);
});
afterAll(() => server.stop());

function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Response> {
  return fetch(server.baseUrl + path, { method, headers, redirect: 'manual' });
}

/** Reads what is named in a text, and what is named there. */
async function readFiles(text: string): Promise<void> {
  for (const path of assetsIn(text)) {
    if (files.has(path)) continue;
    const answer = await get(path, { 'accept-encoding': 'gzip' });
    expect(answer.status, path).toBe(200);
    const content = await answer.text();
    files.set(path, { text: content, sentBytes: Number(answer.headers.get('content-length')) });
    await readFiles(content);
  }
}

function assetsIn(text: string): string[] {
  return [
    ...[...text.matchAll(/\/dashboard\/assets\/[\w.-]+/g)].map(([path]) => path),
    ...[...text.matchAll(/\b(?:from|import)\s*\(?"\.\/([\w.-]+)"/g)].map(
      ([, name]) => `/dashboard/assets/${name}`,
    ),
  ].filter((path, index, all) => all.indexOf(path) === index);
}

/** A module and everything that it imports before it can run. */
function neededBy(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  const imports = files.get(path)!.text.matchAll(/(?:\bfrom|\bimport)\s*"\.\/([\w.-]+)"/g);
  for (const [, imported] of imports) neededBy(`/dashboard/assets/${imported}`, found);
  return found;
}

describe('the dashboard', () => {
  test('is one page at every address below it, under a strict policy', async () => {
    for (const path of ['/dashboard', '/dashboard/', '/dashboard/videos/vi4%', '/dashboard/no/such?page=2']) {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect(await answer.text()).toBe(page);
      const header = (name: string) => answer.headers.get(name);
      expect(header('content-type')).toBe('text/html; charset=utf-8');
      expect(header('cache-control')).toBe('no-cache');
      expect(header('x-content-type-options')).toBe('nosniff');
      expect(header('referrer-policy')).toBe('same-origin');
      const policy = header('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("require-trusted-types-for 'script'");
      expect(policy).not.toContain('unsafe');
    }
    expect(page).not.toMatch(/\{\{\w+\}\}/);
    expect(page).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=|\sstyle=/);
  });

  test('takes addresses beside it for what they are', async () => {
    expect((await get('/dashboards')).status).toBe(404);
  });

  test('has files that may be kept for ever, and answers 304 to who has them', async () => {
    for (const path of ['/dashboard', ...assetsIn(page)]) {
      const answer = await get(path, { 'accept-encoding': 'gzip' });
      await answer.arrayBuffer();
      expect(answer.headers.get('content-encoding'), path).toBe('gzip');
      expect(answer.headers.get('vary')).toBe('Accept-Encoding');
      const kept = path === '/dashboard' ? 'no-cache' : 'public, max-age=31536000, immutable';
      expect(answer.headers.get('cache-control')).toBe(kept);
      const again = await get(path, { 'if-none-match': answer.headers.get('etag') ?? '' });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
  });

  test('refuses files that are not there, and other methods than those that read', async () => {
    const gone = await get('/dashboard/assets/main-000000000000.js');
    expect(gone.status).toBe(404);
    expect(await gone.json()).toMatchObject({ status: 404, name: 'name' });
    const head = await get('/dashboard', { 'accept-encoding': 'identity' }, 'HEAD');
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect(head.headers.get('content-length')).toBe(String(Buffer.byteLength(page)));
    const posted = await get('/dashboard', {}, 'POST');
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    expect((await get('/dashboard', {}, 'OPTIONS')).status).toBe(204);
  });

  test('sends few bytes in few files until the overview is there', () => {
    const overview = [...files.keys()].find(path => path.includes('/overview-page-'))!;
    const first = new Set(['/dashboard', ...assetsIn(page), ...neededBy(overview)]);
    const main = assetsIn(page).find(path => path.includes('/main-'))!;
    expect([...neededBy(main)].filter(path => !assetsIn(page).includes(path))).toEqual([]);
    const font = [...first].find(path => path.endsWith('.woff2'))!;
    expect(files.get(font)!.sentBytes).toBeLessThan(maxFontBytes);
    first.delete(font);
    const bytes = [...first].reduce((sum, path) => sum + files.get(path)!.sentBytes, 0);
    expect(bytes).toBeLessThan(maxFirstLoadBytes);
    expect(first.size).toBeLessThanOrEqual(maxFirstLoadFiles);
  });

  test('is built outside of the main thread', () => {
    expect(blockedMs).toBeLessThan(maxBlockedMs);
  });

  test('names nothing that is elsewhere', () => {
    const named = [...files].flatMap(([path, { text }]) =>
      [...text.replaceAll(comment, '').matchAll(/\b(?:https?|wss?):\/\/[\w./-]+/g)]
        .map(([address]) => address)
        .filter(address => !namesOnly.test(address))
        .map(address => `${path}: ${address}`),
    );
    expect(named).toEqual([]);
  });
});

describe('the root of the server', () => {
  test('sends people to the dashboard', async () => {
    const answer = await get('/', html);
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/dashboard']);
    expect(answer.headers.get('vary')).toBe('Accept');
  });

  test('says what this is to whoever asks for JSON, or for nothing in particular', async () => {
    const base = `http://localhost:${server.listener.httpPort}`;
    for (const headers of [{ accept: 'application/json' }, undefined]) {
      const answer = await get('/', headers);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
      expect(await answer.json()).toEqual({
        name: 'Millrace',
        version: '0.0.0',
        dashboard: `${base}/dashboard`,
        documentation: `${base}/docs`,
        openapi: `${base}/openapi.json`,
      });
    }
  });
});
