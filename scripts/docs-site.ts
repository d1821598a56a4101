/**
 * Writes the documentation as a static site: `npm run docs:site -- FOLDER`. Its addresses are relative, so that it can be served below any
 * path. Examples have the addresses of a server on this machine.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { apiTags } from '../src/docs/openapi/api-tags.ts';
import { referencePageName } from '../src/docs/reference/page-name.ts';
import type { DocsPage, DocsSection } from '../src/docs/site/docs-site.ts';
import { SitePages } from '../src/docs/site/site-pages.ts';
import type { BundleManifest } from '../src/http/pages/browser-bundles.ts';
import { fillTemplate } from '../src/http/pages/browser-text.ts';
import { type ErrorCode, errorRegister } from '../src/shared/errors.ts';
import { buildApiDocument } from './api-document.ts';
import { findOrBuild } from './build/current-build.js';
import { readProjectFile } from './project-files.ts';

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('name the folder for the site: npm run docs:site -- FOLDER');

const build = join(findOrBuild() ?? '', 'browser');
const readJson = async <Value>(path: string) =>
  JSON.parse(await readFile(join(build, path), 'utf8')) as Value;
const { entries, files } = (await readJson<BundleManifest>('manifest.json')).docs;
const urlOf = (entry: string) => `{{base}}/docs/assets/${entries[entry]}`;
const sections = await readJson<readonly DocsSection[]>('guides/sections.json');
const document = await buildApiDocument();
const { version } = JSON.parse(readProjectFile('package.json')) as { version: string };
const pages = new SitePages({
  version,
  links: {
    icon: urlOf('icon'),
    styles: urlOf('docs-page'),
    font: urlOf('font'),
    theme: urlOf('theme'),
    script: urlOf('docs'),
    search: urlOf('search'),
  },
  sections,
  guide: name => readJson<DocsPage>(`guides/${name}.json`),
  document: () => document as never,
});

const guides = sections.flatMap(section => section.pages.map(({ name }) => name));
const names = [
  '',
  ...guides,
  ...guides.map(name => `${name}.md`),
  'reference',
  'reference/search.json',
  ...Object.keys(apiTags).map(referencePageName),
  'errors',
  ...(Object.keys(errorRegister) as ErrorCode[]).map(code => `errors/${code}`),
];
for (const name of names) await write(fileOf(name), relative((await pages.find(name))!, name));
await write('404.html', relative(pages.notFound(), ''));
await write('llms.txt', relative(pages.llms(), ''));
await write('openapi.json', JSON.stringify(document, null, 1));
for (const name of Object.keys(files))
  await write(`assets/${name}`, await readFile(join(build, 'docs', name)));
for (const name of await readdir(join(build, 'guides')))
  if (name.endsWith('.png')) await write(`assets/${name}`, await readFile(join(build, 'guides', name)));

async function write(name: string, content: string | Uint8Array): Promise<void> {
  const path = join(folder!, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

function fileOf(name: string): string {
  if (/\.\w+$/.test(name)) return name;
  return `${name === '' ? 'index' : name}.html`;
}

/** Makes the addresses of a page relative, and leaves out what needs a server. */
function relative(text: string, name: string): string {
  const up = '../'.repeat(name.split('/').length - 1);
  const withoutServer = text
    .replace(/<a class="to-dashboard"[\s\S]*?<\/a>/, '')
    .replace(/<section class="caller"[\s\S]*?<\/section>/, '')
    .replace('data-base="{{base}}/docs/"', `data-base="${up}"`)
    .replace('data-ending=""', 'data-ending=".html"')
    .replaceAll(/<a href="\{\{base\}\}\/dashboard[^>]*>(.*?)<\/a>/g, '$1');
  const withPages = withoutServer
    .replaceAll('{{base}}/openapi.json', `${up}openapi.json`)
    .replaceAll(
      /\{\{base\}\}\/docs(?:\/([\w./-]*))?/g,
      (_, page = '') => up + (page.endsWith('/') ? page : fileOf(page)),
    );
  return fillTemplate(withPages, { server: 'http://localhost:8080' });
}
