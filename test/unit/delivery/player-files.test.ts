import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { loadPlayerFiles } from '../../../src/delivery/player-files.ts';

const files = await loadPlayerFiles();
const texts = [...files.byName].map(([name, file]) => [name, file.text.plain.toString()] as const);

describe('loadPlayerFiles', () => {
  it('gives each file a name made of its content, alike at each load', async () => {
    for (const name of files.byName.keys()) expect(name).toMatch(/^[a-z-]+-[0-9a-f]{12}\.(js|css|svg)$/);
    expect([...(await loadPlayerFiles()).byName.keys()]).toEqual([...files.byName.keys()]);
  });

  it('makes scripts that browsers can read, whose imports and icons all exist', () => {
    for (const [name, text] of texts) {
      if (!name.endsWith('.js')) continue;
      for (const [, specifier] of text.matchAll(/(?:^(?:import|export) [^;]*?from |\bimport\()'([^']+)'/gm)) {
        if (name.startsWith('hls-')) continue;
        expect(specifier).toMatch(/^\/assets\//);
        expect(files.byName.has(specifier!.slice('/assets/'.length))).toBe(true);
      }
      if (!name.startsWith('hls-')) expect(text).not.toMatch(/^(export )?(interface|type) /m);
    }
    for (const page of [files.page, files.vodPage]) {
      const icons = new Set([...page.matchAll(/<symbol id="([^"]+)"/g)].map(match => match[1]));
      for (const [, icon] of page.matchAll(/href="#([^"]+)"/g)) expect(icons).toContain(icon);
    }
  });

  it('names in the page only files that exist, and nothing from elsewhere', () => {
    for (const page of [files.page, files.vodPage, files.sample.plain.toString()]) {
      const links = [...page.matchAll(/(?:href|src)="([^"#{]+)"/g)].map(match => match[1]!);
      expect(links.length).toBeGreaterThan(5);
      for (const link of links) expect(files.byName.has(link.slice('/assets/'.length))).toBe(true);
    }
    for (const text of [files.page, files.vodPage, files.notFound.plain.toString()])
      expect(text).not.toContain('//');
  });

  // Pictures and sound of a video are apart, for which the full build of hls.js is needed; the page of a live stream loads it then.
  it.each([
    { name: 'of a live stream', page: files.page, maxBytes: 150_000, maxOwnBytes: 32_500 },
    { name: 'of a video', page: files.vodPage, maxBytes: 226_000, maxOwnBytes: 42_000 },
  ])('keeps the player $name small on the wire', ({ page, maxBytes, maxOwnBytes }) => {
    const names = new Set([...page.matchAll(/"\/assets\/([^"]+)"/g)].map(match => match[1]!));
    const sum = (of: string[]) =>
      of.reduce((bytes, name) => bytes + files.byName.get(name)!.text.gzip.length, 0);
    expect(sum([...names])).toBeLessThan(maxBytes);
    expect(sum([...names].filter(name => !/^hls(-full)?-/.test(name)))).toBeLessThan(maxOwnBytes);
  });

  it('holds the same text plain and gzipped', () => {
    for (const { text } of files.byName.values()) expect(gunzipSync(text.gzip).equals(text.plain)).toBe(true);
  });

  it('leaves the way in which warnings are shown as it was', async () => {
    const { emitWarning } = process;
    await loadPlayerFiles();
    expect(process.emitWarning).toBe(emitWarning);
  });
});
