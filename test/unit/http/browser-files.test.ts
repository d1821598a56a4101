import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  BrowserFiles,
  BrowserModules,
  browserText,
  fillTemplate,
  stripTypes,
} from '../../../src/http/browser-files.ts';
import { testTempDir } from '../../support/temp-dir.ts';

/** Sources in a folder of their own; made into modules from `main.ts` on. */
async function make(
  sources: Readonly<Record<string, string>>,
  packages: Readonly<Record<string, string>> = {},
) {
  const folder = await testTempDir();
  const urlOf = (name: string) => pathToFileURL(join(folder, name));
  for (const [name, source] of Object.entries(sources)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(urlOf(name), source);
  }
  const files = new BrowserFiles('/x/');
  const modules = new BrowserModules({
    files,
    packages: Object.fromEntries(Object.entries(packages).map(([name, file]) => [name, urlOf(file)])),
    compile: stripTypes,
  });
  const made = await modules.addScript(urlOf('main.ts'));
  const byName = await files.compressed();
  const contents = Object.fromEntries(
    [...byName].map(([name, { text }]) => [name.split('-')[0], text.plain.toString()]),
  );
  return { ...made, names: [...byName.keys()], contents };
}

test('a text has one entity tag for one content, and is the same when it is uncompressed', async () => {
  const text = await browserText('a text');
  expect(text.etag).toMatch(/^"[0-9a-f]{12}"$/);
  expect((await browserText('a text')).etag).toBe(text.etag);
  expect((await browserText('another')).etag).not.toBe(text.etag);
  expect(gunzipSync(text.gzip).toString()).toBe('a text');
});

test('a file gets a name made of its content, below the prefix', async () => {
  const files = new BrowserFiles('/assets/');
  const url = files.add('look', 'css', 'a{}', 'text/css');
  expect(url).toMatch(/^\/assets\/look-[0-9a-f]{12}\.css$/);
  expect((await files.compressed()).get(url.slice('/assets/'.length))?.contentType).toBe('text/css');
});

test('modules name those they import by their addresses, in every form of import', async () => {
  const { contents, names } = await make({
    'main.ts': [
      "import { a } from './a.ts';",
      "import './b.ts';",
      "export { c } from './below/c.ts';",
      "export const later = () => import('./d.ts');",
      'console.log(a as string);',
    ].join('\n'),
    'a.ts': 'export const a: string = "";',
    'b.ts': 'export {};',
    'below/c.ts': "export { a as c } from '../a.ts';",
    'd.ts': 'export const d = 1;',
  });
  const addressOf = (base: string) => `/x/${names.find(name => name.startsWith(`${base}-`))}`;
  for (const [module, imported] of [
    ['main', ['a', 'b', 'c', 'd']],
    ['c', ['a']],
  ] as const) {
    for (const base of imported) expect(contents[module]).toContain(addressOf(base));
    expect(contents[module]).not.toContain('.ts');
  }
});

test('what changes gives a new address to all that lead there, and to nothing else', async () => {
  const sources = {
    'main.ts': "import './a.ts'; import './b.ts';",
    'a.ts': "import './c.ts';",
    'b.ts': 'export const b = 1;',
    'c.ts': 'export const c = 1;',
  };
  const before = (await make(sources)).names;
  const after = (await make({ ...sources, 'c.ts': 'export const c = 2;' })).names;
  expect(after.filter(name => before.includes(name)).map(name => name.split('-')[0])).toEqual(['b']);
});

test('all that a page needs at once is loaded at once, and what is asked for later is not', async () => {
  const { preloads, names } = await make({
    'main.ts': "import './a.ts'; export const later = () => import('./later.ts');",
    'a.ts': "import './deep.ts';",
    'deep.ts': 'export {};',
    'later.ts': "import './much.ts';",
    'much.ts': 'export {};',
  });
  expect(names).toHaveLength(5);
  const preloaded = [...preloads.matchAll(/href="\/x\/(\w+)-/g)].map(([, name]) => name);
  expect(preloaded.sort()).toEqual(['a', 'deep']);
});

test('packages are named by their file, and other bare names stay', async () => {
  const { contents } = await make(
    {
      'main.ts': "import { render } from 'a-library';\nconst words = \"it comes from 'elsewhere'\";",
      'library.js': 'export function render() {}\n//# sourceMappingURL=library.js.map\n',
    },
    { 'a-library': 'library.js' },
  );
  expect(contents.main).toMatch(/from '\/x\/library-[0-9a-f]{12}\.js'/);
  expect(contents.main).toContain("from 'elsewhere'");
  expect(contents.library).not.toContain('sourceMappingURL');
});

test('comments in lines of their own are not sent', async () => {
  const { contents } = await make({
    'main.ts':
      '/**\n * What it is for.\n */\nexport const a = 1; // stays\n// goes\nexport const b = "/* stays */";\n',
  });
  expect(contents.main).toBe('export const a = 1; // stays\nexport const b = "/* stays */";\n');
});

test('values take the place of their names once: what looks like a name in them stays', () => {
  expect(fillTemplate('{{a}} {{b}} {{c}}', { a: '{{b}}', b: '2' })).toBe('{{b}} 2 {{c}}');
});
