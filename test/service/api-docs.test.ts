import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { committedPaths, readProjectFile } from '../../scripts/project-files.ts';
import { apiTags } from '../../src/docs/openapi/api-tags.ts';
import { errorRegister } from '../../src/shared/errors.ts';
import { docsLinks } from '../../src/web/dashboard/shell/docs-links.ts';
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

async function textOf(path: string): Promise<string> {
  const answer = await get(path, html);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.text();
}

const linksIn = (page: string) => [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link);
const idsIn = (page: string) => [...page.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);

describe('the documentation', () => {
  test('is a page that may load nothing from elsewhere, and runs nothing that is written in it', async () => {
    const answer = await get('/docs');
    const page = await answer.text();
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.match(/src="https?:/g)).toBeNull();
    expect(page).not.toMatch(/<script>|<script(?![^>]* src=)|style=|<style| on\w+=/);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).not.toContain('unsafe');
    expect((await get('/docs/')).status).toBe(200);
  });

  test('names files that may be kept for ever, and answers 304 to who has them', async () => {
    const links = linksIn(await textOf('/docs/dashboard')).filter(link => link.startsWith('/docs/assets/'));
    const search = /data-guides="([^"]+)"/.exec(await textOf('/docs'))?.[1] ?? '';
    const paths = new Set([...links, search]);
    expect([...paths].filter(path => path.endsWith('.png')).length).toBeGreaterThan(3);
    for (const path of paths) {
      const answer = await get(path, { 'accept-encoding': 'gzip' });
      await answer.arrayBuffer();
      expect([path, answer.status]).toEqual([path, 200]);
      expect(answer.headers.get('content-encoding')).toBe(path.endsWith('.png') ? null : 'gzip');
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const again = await get(path, { 'if-none-match': answer.headers.get('etag') ?? '' });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
    for (const name of ['nothing.js', 'nothing.png', '..%2fsections.json', 'sections.json'])
      expect((await get(`/docs/assets/${name}`)).status, name).toBe(404);
  });

  test('answers HEAD without a body and other methods with 405', async () => {
    const head = await fetch(`${server.baseUrl}/docs`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const posted = await fetch(`${server.baseUrl}/docs`, { method: 'POST' });
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  test('has every guide, with the addresses of this server, as a page and as Markdown', async () => {
    const guides = committedPaths().filter(path => /^docs\/[^/]+\.md$/.test(path));
    expect(guides.length).toBeGreaterThan(19);
    for (const path of guides) {
      const name = path.slice('docs/'.length, -'.md'.length);
      const page = await textOf(`/docs/${name}`);
      const [, title = ''] = /^# (.+)$/m.exec(readProjectFile(path)) ?? [];
      expect(page).toContain(`>${title}<`);
      expect(page).not.toMatch(/\{\{|http:\/\/localhost:8080/);
      for (const slash of ['', '/']) {
        const markdown = await get(`/docs/${name}.md${slash}`);
        expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
        expect(await markdown.text()).toContain(`# ${title}\n`);
      }
    }
    expect(await textOf('/docs/start')).toContain(`http://localhost:${server.listener.httpPort}/videos`);
  });

  test('leads nowhere that does not exist: each link and each anchor of each page', async () => {
    const pages = new Map<string, string>();
    const queue = ['/docs'];
    for (const path of queue) {
      const page = await textOf(path);
      pages.set(path, page);
      for (const link of linksIn(page)) {
        const [target = ''] = link.split('#');
        if (/^\/docs(?!\/assets)(?!.*\.md$)/.test(target) && !queue.includes(target)) queue.push(target);
      }
    }
    expect(pages.size).toBeGreaterThan(50 + Object.keys(apiTags).length);
    const missing: string[] = [];
    for (const [path, page] of pages) {
      const ids = idsIn(page);
      expect([path, ids.length]).toEqual([path, new Set(ids).size]);
      for (const link of linksIn(page)) {
        const [target, anchor] = link.split('#');
        const linked = target === '' ? page : pages.get(target!);
        if (anchor !== undefined && !/^https?:/.test(link) && !idsIn(linked ?? '').includes(anchor))
          missing.push(`${path}: ${link}`);
      }
    }
    for (const [path, link] of Object.entries(docsLinks)) {
      const [page = '', anchor] = link.split('#');
      const ids = idsIn(pages.get(`/docs/${page}`) ?? '');
      if (ids.length === 0 || (anchor !== undefined && !ids.includes(anchor)))
        missing.push(`${path}: ${link}`);
    }
    expect(missing).toEqual([]);
  });

  test('has links between guides that work where the files are read, too', () => {
    const missing: string[] = [];
    const paths = new Set(committedPaths());
    for (const path of [...paths].filter(one => /^(?:README|docs\/[^/]+|config\/[^/]+)(?:\.md)$/.test(one))) {
      for (const [, target = ''] of readProjectFile(path).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)) {
        if (/^https?:/.test(target)) continue;
        const linked = new URL(target, `file:///${path}`).pathname.slice(1);
        const exists = paths.has(linked) || [...paths].some(one => one.startsWith(`${linked}/`));
        if (!exists) missing.push(`${path}: ${target}`);
      }
    }
    expect(missing).toEqual([]);
  });

  test('lists its pages for programs, and what a search of the reference finds', async () => {
    const list = await (await get('/llms.txt')).text();
    expect(list).toMatch(/^# Millrace\n\n> /);
    const links = [...list.matchAll(/\]\((http[^)]+\.md)\)/g)].map(([, link = '']) => new URL(link).pathname);
    expect(links.length).toBeGreaterThan(19);
    for (const link of links) expect((await get(link)).status, link).toBe(200);
    const found = (await (await get('/docs/reference/search.json')).json()) as { anchor: string }[];
    const document = await (await get('/openapi.json')).text();
    const operations = [...document.matchAll(/"operationId":"((?!on-)[^"]+)"/g)].map(([, id]) => id);
    expect(found.map(({ anchor }) => anchor).sort()).toEqual(operations.sort());
  });

  test('tells browsers and programs of pages that do not exist', async () => {
    const page = await get('/docs/nothing', html);
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await page.text()).toContain('This page does not exist');
    const error = await get('/docs/reference/nothing');
    expect([error.status, error.headers.get('content-type')]).toEqual([404, 'application/json']);
    for (const path of ['/docs/constructor', '/docs/__proto__.md', '/docs/..%2f..%2fpackage.json.md'])
      expect((await get(path)).status, path).toBe(404);
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

  test('describes an operation with its parameters, body, responses, errors and a call', async () => {
    const page = await textOf('/docs/reference/videos');
    const [, list = ''] = /(<article [^>]*id="get-videos"[\s\S]+?<\/article>)/.exec(page) ?? [];
    for (const part of [
      '<code class="name">sortBy</code>',
      'one of <code>title</code>',
      '1 to 100',
      'default <code>25</code>',
    ])
      expect(list).toContain(part);
    expect(list).toContain(`curl -u $KEY: http://localhost:${server.listener.httpPort}/videos`);
    expect(list).toContain('href="/docs/errors/invalid-attribute"');
    expect(list).toContain('Scope <a href="/docs/teams#scopes"><code>read</code></a>');
    expect([...list.matchAll(/data-language="(\w+)"/g)].map(([, language]) => language)).toEqual([
      'sh',
      'js',
      'python',
      'php',
      'go',
    ]);
    const [, create = ''] = /(<article [^>]*id="post-videos"[\s\S]+?<\/article>)/.exec(page) ?? [];
    expect(create).toContain(
      '<code class="name">title</code> <span class="type">string</span> <span class="required">required</span>',
    );
    expect(create).toMatch(/-d &#39;\{&#34;title&#34;/);
    expect(await textOf('/docs/reference/webhooks')).toContain('id="on-video-encoding-quality-completed"');
  });
});
