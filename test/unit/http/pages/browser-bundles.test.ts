import { expect, test } from 'vitest';
import { browserText, fillTemplate } from '../../../../src/http/pages/browser-text.ts';
import { testBundles } from '../../../support/browser-bundles.ts';

test('the entry points of a bundle and their imports are among its files', async () => {
  const { files, urlOf, preloadsOf } = await testBundles.load('dashboard');
  for (const entry of ['main', 'theme', 'dashboard', 'icon']) {
    expect(files.has(urlOf(entry).slice('/dashboard/assets/'.length))).toBe(true);
  }
  const preloads = [...preloadsOf('main').matchAll(/href="\/dashboard\/assets\/([^"]+)"/g)];
  expect(preloads.length).toBeGreaterThan(0);
  for (const [, name = ''] of preloads) expect(files.has(name)).toBe(true);
});

test('a text has one entity tag for one content', async () => {
  const text = await browserText('a text');
  expect(text.etag).toMatch(/^"[0-9a-f]{12}"$/);
  expect((await browserText('a text')).etag).toBe(text.etag);
  expect((await browserText('another')).etag).not.toBe(text.etag);
});

test('a value that looks like a placeholder is not filled in', () => {
  expect(fillTemplate('{{a}} {{b}} {{c}}', { a: '{{b}}', b: '2' })).toBe('{{b}} 2 {{c}}');
});
