import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { projectRoot } from '../../scripts/project-files.ts';
import { testTempDir } from '../support/temp-dir.ts';

test('the static site of the documentation leads nowhere outside of it', async () => {
  const folder = join(await testTempDir(), 'site');
  execFileSync(process.execPath, ['scripts/docs-site.ts', folder], { cwd: projectRoot });
  const pages = globSync('**/*.html', { cwd: folder });
  expect(pages.length).toBeGreaterThan(100);
  const missing: string[] = [];
  for (const path of pages) {
    const page = readFileSync(join(folder, path), 'utf8');
    expect([path, page.match(/\{\{\w+/g)]).toEqual([path, null]);
    for (const [, link = ''] of page.matchAll(
      /(?:href|src|data-guides|data-reference)="([^"#]+)(?:#[^"]*)?"/g,
    )) {
      if (!/^https?:/.test(link) && !existsSync(join(folder, dirname(path), link)))
        missing.push(`${path}: ${link}`);
    }
  }
  expect(missing).toEqual([]);
  const reference = readFileSync(join(folder, 'reference/videos.html'), 'utf8');
  expect(reference).toContain('data-base="../" data-ending=".html"');
  // Forms for calls need a server.
  expect(reference).not.toMatch(/id="caller"|to-dashboard/);
});
