import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { loadPlayerFiles } from '../../../../src/delivery/pages/player-files.ts';
import { testBundles } from '../../../support/browser-bundles.ts';

const files = await loadPlayerFiles(testBundles);
const pages = [files.page, files.vodPage, files.sample.plain.toString()];

describe('loadPlayerFiles', () => {
  it('names every file by its content', () => {
    for (const name of files.byName.keys()) expect(name).toMatch(/^[a-z.-]+-[0-9A-Z]{8}\.(js|css|svg|ico)$/);
  });

  it('has every file that a script imports', () => {
    for (const [name, { text }] of files.byName) {
      if (!name.endsWith('.js')) continue;
      for (const [, imported = ''] of text.plain.toString().matchAll(/\b(?:from|import)\(?"\.\/([^"]+)"/g)) {
        expect([...files.byName.keys()]).toContain(imported);
      }
    }
  });

  it('has every icon that a page uses', () => {
    for (const page of pages) {
      const icons = new Set([...page.matchAll(/<symbol id="([^"]+)"/g)].map(match => match[1]));
      for (const [, icon] of page.matchAll(/href="#([^"]+)"/g)) expect(icons).toContain(icon);
    }
  });

  it('links only to files that exist, and to no other site', () => {
    for (const page of pages) {
      const links = [...page.matchAll(/(?:href|src)="([^"#{]+)"/g)].map(match => match[1]!);
      expect(links.length).toBeGreaterThan(4);
      for (const link of links) expect(files.byName.has(link.slice('/assets/'.length))).toBe(true);
    }
    for (const text of [files.page, files.vodPage, files.notFound.get('en')!.plain.toString()])
      expect(text).not.toContain('//');
  });

  // A video has separate renditions of video and audio, which need the full build of hls.js; the page of a live stream loads it on demand.
  it.each([
    { name: 'of a live stream', page: files.page, maxBytes: 184_000 },
    { name: 'of a video', page: files.vodPage, maxBytes: 208_000 },
  ])('sends few bytes for the page $name', ({ page, maxBytes }) => {
    const names = new Set([...page.matchAll(/"\/assets\/([^"]+)"/g)].map(match => match[1]!));
    const bytes = [...names].reduce((sum, name) => sum + files.byName.get(name)!.text.gzip.length, 0);
    expect(bytes).toBeLessThan(maxBytes);
  });

  it('sends few bytes for the player element with its controls and the engine of live streams', () => {
    const read = (name: string) => files.byName.get(name)!.text;
    const names = new Set<string>();
    /** Adds a file and what it imports, except on demand. */
    const add = (name: string) => {
      if (names.has(name)) return;
      names.add(name);
      const imports = read(name)
        .plain.toString()
        .matchAll(/\b(?:from|import)"\.\/([^"]+)"/g);
      for (const [, imported = ''] of imports) add(imported);
    };
    const script = files.element.plain.toString();
    for (const [, name = ''] of script.matchAll(/"\.\/assets\/([^"]+)"/g)) add(name);
    for (const entry of ['live-engine-', 'controls-'])
      add([...files.byName.keys()].find(name => name.startsWith(entry))!);
    const bytes = [...names].reduce((sum, name) => sum + read(name).gzip.length, 0);
    expect(bytes).toBeLessThan(178_000);
  });

  it('holds the same text plain and gzipped', () => {
    for (const { text } of files.byName.values()) expect(gunzipSync(text.gzip).equals(text.plain)).toBe(true);
  });
});
