import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { loadPlayerFiles } from '../../../src/delivery/player-files.ts';

const files = loadPlayerFiles();
const texts = [...files.byName].map(([name, file]) => [name, file.text.plain.toString()] as const);

describe('loadPlayerFiles', () => {
  it('gives each file a name made of its content, alike at each load', () => {
    for (const name of files.byName.keys()) expect(name).toMatch(/^[a-z-]+-[0-9a-f]{12}\.(js|css|svg)$/);
    expect([...loadPlayerFiles().byName.keys()]).toEqual([...files.byName.keys()]);
  });

  it('makes scripts that browsers can read, whose imports and icons all exist', () => {
    for (const [name, text] of texts) {
      if (!name.endsWith('.js')) continue;
      for (const [, specifier] of text.matchAll(/^(?:import|export) [^;]*?from '([^']+)'/gm)) {
        expect(specifier).toMatch(/^\/assets\//);
        expect(files.byName.has(specifier!.slice('/assets/'.length))).toBe(true);
      }
      if (!name.startsWith('hls-')) expect(text).not.toMatch(/^(export )?(interface|type) /m);
    }
    const icons = new Set([...files.page.matchAll(/<symbol id="([^"]+)"/g)].map(match => match[1]));
    for (const [, icon] of files.page.matchAll(/href="#([^"]+)"/g)) expect(icons).toContain(icon);
  });

  it('names in the page only files that exist, and nothing from elsewhere', () => {
    const links = [...files.page.matchAll(/(?:href|src)="([^"#]+)"/g)].map(match => match[1]!);
    expect(links.length).toBeGreaterThan(5);
    for (const link of links) expect(files.byName.has(link.slice('/assets/'.length))).toBe(true);
    for (const text of [files.page, files.notFound.plain.toString()]) expect(text).not.toContain('//');
  });

  it('keeps the whole player below 150 KB on the wire', () => {
    const bytes = [...files.byName.values()].reduce((sum, file) => sum + file.text.gzip.length, 0);
    expect(bytes).toBeLessThan(150_000);
  });

  it('holds the same text plain and gzipped', () => {
    for (const { text } of files.byName.values()) expect(gunzipSync(text.gzip).equals(text.plain)).toBe(true);
  });

  it('leaves the way in which warnings are shown as it was', () => {
    const { emitWarning } = process;
    loadPlayerFiles();
    expect(process.emitWarning).toBe(emitWarning);
  });
});
