import { readdirSync } from 'node:fs';
import fsPromises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { expect, onTestFinished, test, vi } from 'vitest';
import { BrowserBundles } from '../../../../src/http/pages/browser-bundles.ts';
import { browserText, fillTemplate } from '../../../../src/http/pages/browser-text.ts';
import { silentLogger } from '../../../../src/shared/logger.ts';
import { testBundles } from '../../../support/browser-bundles.ts';
import { testTempDir } from '../../../support/temp-dir.ts';

test('the entry points of a bundle and their imports are among its files', async () => {
  const { files, urlOf, preloadsOf } = await testBundles.load('dashboard');
  for (const entry of ['main', 'theme', 'dashboard', 'icon']) {
    expect(files.has(urlOf(entry).slice('/dashboard/assets/'.length))).toBe(true);
  }
  const preloads = [...preloadsOf('main').matchAll(/href="\/dashboard\/assets\/([^"]+)"/g)];
  expect(preloads.length).toBeGreaterThan(0);
  for (const [, name = ''] of preloads) expect(files.has(name)).toBe(true);
});

test('a bundle of unchanged sources is read, not built again', async () => {
  const fallbackFolder = await testTempDir();
  await testBundles.load('docs');
  const logged: string[] = [];
  const log = { ...silentLogger, info: (event: string) => void logged.push(event) };
  const bundles = new BrowserBundles({ basePath: '', fallbackFolder, isDevelopment: false, log });
  const again = await bundles.load('docs');
  expect([...again.files.keys()]).toEqual([...(await testBundles.load('docs')).files.keys()]);
  expect(logged).toEqual([]);
  expect(readdirSync(fallbackFolder)).toEqual([]);
});

test('a build of sources that changed meanwhile is not stored', async () => {
  await testBundles.load('docs');
  const outdated = vi
    .spyOn(fsPromises, 'readFile')
    .mockImplementationOnce(async () => Buffer.from('an outdated source'));
  onTestFinished(() => {
    outdated.mockRestore();
    syncBuiltinESMExports();
  });
  syncBuiltinESMExports();
  const fallbackFolder = await testTempDir();
  const logged: string[] = [];
  const log = { ...silentLogger, info: (event: string) => void logged.push(event) };
  const bundles = new BrowserBundles({ basePath: '', fallbackFolder, isDevelopment: false, log });
  const { files } = await bundles.load('docs');
  expect([...files.keys()]).toEqual([...(await testBundles.load('docs')).files.keys()]);
  expect(outdated).toHaveBeenCalled();
  expect(logged).toEqual([]);
  expect(readdirSync(fallbackFolder)).toEqual([]);
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
