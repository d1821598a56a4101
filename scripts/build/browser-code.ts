/** Bundles the code for browsers. */
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join, parse } from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import { build, type Metafile, type Plugin } from 'esbuild';
import type { BundleManifest, BundleName } from '../../src/http/pages/browser-bundles.ts';
import { projectRoot } from '../project-files.ts';
import { catalogueFile, compileCatalogue } from './compile-messages.ts';
import { buildDocsPages } from './docs-pages.ts';
import { hlsForOurMedia } from './hls-js.ts';
import { smallMediaChrome } from './media-chrome.ts';

const sourceFolder = join(projectRoot, 'src/web');

const entryPoints: Readonly<Record<BundleName, Readonly<Record<string, string>>>> = {
  player: {
    page: 'player/page-main.ts',
    'live-engine': 'player/element/live-source.ts',
    'vod-engine': 'player/element/vod-source.ts',
    controls: 'player/controls/millrace-controls.ts',
    sample: 'player/sample-main.ts',
    element: 'player/element/main.ts',
    watch: 'watch/main.ts',
    'watch-start': 'watch/start.ts',
    'watch-page': 'watch/watch.css',
    'page-styles': 'player/page.css',
    'card-page': 'player/card-page.css',
    channel: 'channel/main.ts',
    'channel-page': 'channel/channel.css',
    icon: 'player/icon.svg',
    favicon: 'player/favicon.ico',
    'sample-poster': 'player/placeholder.svg',
  },
  dashboard: {
    main: 'dashboard/main.tsx',
    theme: 'dashboard/theme-at-start.ts',
    dashboard: 'dashboard/styles/dashboard.css',
    icon: 'player/icon.svg',
  },
  docs: {
    docs: 'docs/main.ts',
    theme: 'dashboard/theme-at-start.ts',
    'docs-page': 'docs/docs.css',
    icon: 'player/icon.svg',
  },
};

const sharedFolders =
  /[/\\]dashboard[/\\](?:(?:api|broadcasts|format|state|ui)[/\\].*|texts[/\\]shell)\.tsx?$/;
/** The overview has them from other pages. */
const ofOverview =
  /[/\\](?:shell[/\\](?:list-path|nav-groups)|analytics[/\\](?:analytics-data|current-viewers|time-range)|clips[/\\]clip-(?:fields|times)|health[/\\]alarm-titles|server[/\\]check-summary|studio[/\\]capture|texts[/\\]overview|usage[/\\]storage-(?:bar|kinds)|webhooks[/\\]delivery-labels)\.tsx?$/;
const separateModules = /[/\\](?:chart\.tsx|api-types\.ts)$/;
const dashboardEntries =
  /[/\\]dashboard[/\\](?:main|.*-page|.*language-dialog|.*signed-out-pages|.*upload-(?:start|queue)|.*chart)\.tsx?$/;

const loadedByPlayer =
  /[/\\]player[/\\](?:controls[/\\]millrace-controls|element[/\\](?:live-source|millrace-player|vod-source))\.ts$/;
const loadedByControls = /[/\\]player[/\\]controls[/\\](?:extras|share-sheet)\.ts$/;
/** The player element begins with these: itself, and what its engines, controls and pages share. */
const ofPlayer = [
  'player/element/millrace-player.ts',
  'player/controls/theme.ts',
  'player/media/audio-control.ts',
  'player/media/audio-tracks.ts',
  'player/media/captions.ts',
  'player/media/hls-settings.ts',
  'player/media/playback-intent.ts',
  'player/media/playback-rates.ts',
  'player/media/qualities.ts',
  'player/media/recovery.ts',
  'player/theme/theme-preview.ts',
  'shared/base-path.ts',
  'shared/cue-at.ts',
].map(path => join(sourceFolder, path));

const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.conf': 'text/plain; charset=utf-8',
  '.vcl': 'text/plain; charset=utf-8',
  '.yaml': 'text/plain; charset=utf-8',
  '.cfg': 'text/plain; charset=utf-8',
};

interface BrowserCodeOptions {
  /** Adds source maps, and does not minify. */
  readonly isDevelopment: boolean;
  /** Receives the names of the packages that the code has parts of. */
  readonly packages?: Set<string>;
}

/** Returns the files of a build by their paths in it, each with a compressed one beside it. */
export async function buildBrowserCode(options: BrowserCodeOptions): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  const manifest = {} as { -readonly [Name in BundleName]: BundleManifest[Name] };
  for (const name of Object.keys(entryPoints) as BundleName[]) {
    const bundle = await buildBundle(name, options);
    if (name === 'docs') for (const [path, content] of addGuides(bundle)) files.set(path, content);
    const { contents, entries, imports } = bundle;
    for (const [file, content] of contents) {
      files.set(`${name}/${file}`, content);
      files.set(`${name}/${file}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
    }
    const types = [...contents.keys()].map(file => [
      file,
      mediaTypes[extname(file)] ?? 'application/octet-stream',
    ]);
    manifest[name] = { files: Object.fromEntries(types) as Record<string, string>, entries, imports };
  }
  return files.set('manifest.json', Buffer.from(JSON.stringify(manifest)));
}

interface BuiltBundle {
  readonly contents: Map<string, Uint8Array>;
  readonly entries: Record<string, string>;
  readonly imports: Readonly<Record<string, readonly string[]>>;
}

async function buildBundle(
  name: BundleName,
  { isDevelopment, packages }: BrowserCodeOptions,
): Promise<BuiltBundle> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: sourceFolder,
    entryPoints: Object.entries(entryPoints[name]).map(([out, path]) => ({ in: path, out })),
    outdir: sourceFolder,
    write: false,
    metafile: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'esnext',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: !isDevelopment,
    sourcemap: isDevelopment ? 'inline' : false,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    loader: { '.svg': 'copy', '.ico': 'copy', '.woff2': 'file' },
    tsconfigRaw: {},
    plugins: [...browserPlugins, ...(name === 'dashboard' ? [await sharedChunk()] : [])],
    treeShaking: name !== 'dashboard',
  });
  for (const path of Object.keys(metafile.inputs)) {
    const found = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path);
    if (found !== null) packages?.add(found[1]!);
  }
  const entries: Record<string, string> = {};
  const imports: Record<string, string[]> = {};
  for (const [entry, path] of Object.entries(entryPoints[name])) {
    const output = outputOf(metafile, path);
    entries[entry] = basename(output);
    imports[entry] = [...importsOf(metafile, output)].map(file => basename(file));
  }
  const contents = new Map(outputFiles.map(({ path, contents }) => [basename(path), contents]));
  await addFont(contents, entries);
  return { contents, entries, imports };
}

/** Names the font that pages load at once, and adds its license, which asks for that. */
async function addFont(contents: Map<string, Uint8Array>, entries: Record<string, string>): Promise<void> {
  const font = [...contents.keys()].find(file => file.startsWith('inter-latin-wght-'));
  if (font === undefined) return;
  entries.font = font;
  const license = join(projectRoot, 'node_modules/@fontsource-variable/inter/LICENSE');
  contents.set('inter-license.txt', await readFile(license));
}

/** Adds the files of the guides to a bundle, and returns their pages and pictures, which are in none. */
function addGuides({ contents, entries }: BuiltBundle): Map<string, Uint8Array> {
  const guides = buildDocsPages();
  const others = new Map<string, Uint8Array>([
    ['guides/sections.json', Buffer.from(JSON.stringify(guides.sections))],
  ]);
  const add = (file: string, content: Uint8Array) => {
    const { name, ext } = parse(file);
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 8).toUpperCase();
    const hashed = `${name}-${hash}${ext}`;
    if (ext === '.png') others.set(`guides/${hashed}`, content);
    else contents.set(hashed, content);
    return hashed;
  };
  entries.search = add('search.json', Buffer.from(JSON.stringify(guides.search)));
  const names = new Map([...guides.files].map(([file, content]) => [file, add(file, content)]));
  const withFiles = (text: string) =>
    text.replaceAll(/\{\{file:([^}]+)\}\}/g, (_, file: string) => `{{base}}/docs/assets/${names.get(file)}`);
  for (const page of guides.pages) {
    const content = { ...page, html: withFiles(page.html), markdown: withFiles(page.markdown) };
    others.set(`guides/${page.name}.json`, Buffer.from(JSON.stringify(content)));
  }
  return others;
}

/** Style sheets that code imports are minified texts, for shadow roots. */
const cssTexts: Plugin = {
  name: 'css-texts',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /\.css$/ }, ({ path, resolveDir, kind }) =>
      kind === 'import-statement' ? { path: join(resolveDir, path), namespace: 'css-text' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'css-text' }, async ({ path }) => {
      const { outputFiles, metafile } = await build({
        entryPoints: [path],
        bundle: true,
        minify: true,
        target: 'esnext',
        metafile: true,
        write: false,
        absWorkingDir: sourceFolder,
      });
      const watchFiles = Object.keys(metafile.inputs).map(input => join(sourceFolder, input));
      return { contents: outputFiles[0]!.contents, loader: 'text', watchFiles };
    });
  },
};

const compiledMessages: Plugin = {
  name: 'compiled-messages',
  setup: ({ onLoad }) => {
    onLoad({ filter: catalogueFile }, async ({ path }) => ({
      contents: await compileCatalogue(path),
      loader: 'js',
    }));
  },
};

/** Makes every page import all shared modules. */
async function sharedChunk(): Promise<Plugin> {
  const paths = (await readdir(join(sourceFolder, 'dashboard'), { recursive: true }))
    .map(path => join(sourceFolder, 'dashboard', path))
    .filter(path => (sharedFolders.test(path) || ofOverview.test(path)) && !separateModules.test(path));
  return importShared(dashboardEntries, paths);
}

/** Makes some modules import others, which are loaded with them: esbuild would make dozens of tiny chunks of what they share. */
function importShared(importers: RegExp, paths: readonly string[]): Plugin {
  return {
    name: 'import-shared',
    setup: ({ onLoad }) => {
      onLoad({ filter: importers }, async ({ path }) => {
        const imports = paths
          .filter(shared => shared !== path)
          .map(shared => `import ${JSON.stringify(shared)};`);
        return {
          contents: [await readFile(path, 'utf8'), ...imports].join('\n'),
          loader: path.endsWith('x') ? 'tsx' : 'ts',
        };
      });
    },
  };
}

/** The `copy` loader's outputs have an input instead of an entry point. */
function outputOf({ outputs }: Metafile, entry: string): string {
  const found = Object.entries(outputs).find(
    ([, { entryPoint, inputs }]) => (entryPoint ?? Object.keys(inputs)[0]) === entry,
  );
  if (found === undefined) throw new Error(`esbuild made no output of ${entry}`);
  return found[0];
}

function importsOf(metafile: Metafile, output: string, found = new Set<string>()): Set<string> {
  for (const { path, kind } of metafile.outputs[output]?.imports ?? []) {
    if (kind !== 'import-statement' || found.has(path)) continue;
    found.add(path);
    importsOf(metafile, path, found);
  }
  return found;
}

/** Plugins of all browser code. */
export const browserPlugins: readonly Plugin[] = [
  importShared(loadedByPlayer, ofPlayer),
  importShared(loadedByControls, [join(sourceFolder, 'player/controls/millrace-controls.ts')]),
  compiledMessages,
  cssTexts,
  smallMediaChrome,
  hlsForOurMedia,
];
