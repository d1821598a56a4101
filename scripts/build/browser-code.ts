/** Bundles the code for browsers. */
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, extname, join, parse } from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import { build, type Metafile, type Plugin } from 'esbuild';
import type { BundleManifest, BundleName } from '../../src/http/pages/browser-bundles.ts';
import { projectRoot } from '../project-files.ts';

const sourceFolder = join(projectRoot, 'src/web');

const entryPoints: Readonly<Record<BundleName, Readonly<Record<string, string>>>> = {
  player: {
    live: 'player/main.ts',
    vod: 'player/vod-main.ts',
    sample: 'player/sample-main.ts',
    player: 'player/player-page.css',
    'vod-page': 'player/vod-page.css',
    icon: 'player/icon.svg',
    'sample-poster': 'player/placeholder.svg',
  },
  dashboard: {
    main: 'dashboard/main.tsx',
    theme: 'dashboard/theme-at-start.ts',
    dashboard: 'dashboard/styles/dashboard.css',
    icon: 'player/icon.svg',
  },
  docs: { docs: 'docs/main.ts', 'docs-page': 'docs/docs.css', icon: 'player/icon.svg' },
};

const sharedModules = /[/\\]dashboard[/\\](?:api|broadcasts|format|state|ui)[/\\].*\.tsx?$/;
const separateModules = /[/\\](?:chart\.tsx|api-types\.ts)$/;
const dashboardEntries = /[/\\]dashboard[/\\](?:main|.*-page|.*upload-(?:start|queue)|.*chart)\.tsx?$/;

const mediaTypes: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Files of the viewer of API documents, which have no entry point here. */
const viewerFiles = { viewer: 'swagger-ui-bundle.js', 'viewer-styles': 'swagger-ui.css' };

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
    if (name === 'docs') await addViewer(bundle, options);
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
    loader: { '.svg': 'copy' },
    tsconfigRaw: {},
    plugins: name === 'dashboard' ? [await sharedChunk()] : [],
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
  return {
    contents: new Map(outputFiles.map(({ path, contents }) => [basename(path), contents])),
    entries,
    imports,
  };
}

async function addViewer(
  { contents, entries }: BuiltBundle,
  { packages }: BrowserCodeOptions,
): Promise<void> {
  packages?.add('swagger-ui-dist');
  const require = createRequire(import.meta.url);
  const { version } = require('swagger-ui-dist/package.json') as { version: string };
  for (const [entry, path] of Object.entries(viewerFiles)) {
    const { name, ext } = parse(path);
    const file = `${name}-${version}${ext}`;
    contents.set(file, await readFile(require.resolve(`swagger-ui-dist/${path}`)));
    entries[entry] = file;
  }
}

/** Makes every page import all shared modules: esbuild would make dozens of tiny chunks. */
async function sharedChunk(): Promise<Plugin> {
  const paths = (await readdir(join(sourceFolder, 'dashboard'), { recursive: true }))
    .map(path => join(sourceFolder, 'dashboard', path))
    .filter(path => sharedModules.test(path) && !separateModules.test(path));
  return {
    name: 'shared-chunk',
    setup: ({ onLoad }) => {
      onLoad({ filter: dashboardEntries }, async ({ path }) => {
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
