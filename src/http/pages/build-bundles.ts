/**
 * Bundles the browser code: `node src/http/pages/build-bundles.ts [FOLDER] [--development]`. FOLDER is named
 * after the build key. Runs as its own process, whose memory is returned at the end.
 */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { constants, gzipSync } from 'node:zlib';
import { type BuildOptions, build, type Metafile, type Plugin } from 'esbuild';
import {
  type BundleManifest,
  type BundleName,
  buildKey,
  installedBuildFolder,
  sourceFolder,
} from './browser-bundles.ts';

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
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

const maxKeptBuilds = 5;

const { values, positionals } = parseArgs({
  options: { development: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const target = positionals[0] ?? (await installedBuildFolder(values.development));
await writeBuild(target, values.development);
await removeOldBuilds(dirname(target));

/** Builds beside the target and renames the result: a build that exists is complete. */
async function writeBuild(folder: string, isDevelopment: boolean): Promise<void> {
  const scratch = `${folder}.${process.pid}`;
  try {
    const manifest = {} as { -readonly [Name in BundleName]: BundleManifest[Name] };
    for (const name of Object.keys(entryPoints) as BundleName[]) {
      manifest[name] = await buildBundle(name, join(scratch, name), isDevelopment);
    }
    await writeFile(join(scratch, 'manifest.json'), JSON.stringify(manifest));
    // A build that mixes old and new sources must not be stored.
    if ((await buildKey(isDevelopment)) !== basename(folder)) {
      throw new Error('a source changed during the build');
    }
    await rename(scratch, folder).catch(async (error: unknown) => {
      // Another process wrote the bundle first.
      await stat(join(folder, 'manifest.json')).catch(() => {
        throw error;
      });
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function buildBundle(
  name: BundleName,
  folder: string,
  isDevelopment: boolean,
): Promise<BundleManifest[BundleName]> {
  await mkdir(folder, { recursive: true });
  const { outputFiles, metafile } = await build({
    ...outputOptions(folder, isDevelopment),
    entryPoints: Object.entries(entryPoints[name]).map(([out, path]) => ({ in: path, out })),
    ...(name === 'dashboard' ? { plugins: [await sharedChunk()], treeShaking: false } : {}),
  });
  const files: Record<string, string> = {};
  for (const { path, contents } of outputFiles) {
    const file = basename(path);
    files[file] = mediaTypes[file.split('.').at(-1) ?? ''] ?? 'application/octet-stream';
    await writeFile(path, contents);
    await writeFile(`${path}.gz`, gzipSync(contents, { level: constants.Z_BEST_COMPRESSION }));
  }
  const entries: Record<string, string> = {};
  const imports: Record<string, string[]> = {};
  for (const [entry, path] of Object.entries(entryPoints[name])) {
    const output = outputOf(metafile, path);
    entries[entry] = basename(output);
    imports[entry] = [...importsOf(metafile, output)].map(file => basename(file));
  }
  return { files, entries, imports };
}

function outputOptions(folder: string, isDevelopment: boolean) {
  return {
    absWorkingDir: sourceFolder,
    outdir: folder,
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
  } satisfies BuildOptions;
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

/** Keeps the newest: servers of other versions may still read theirs. */
async function removeOldBuilds(folder: string): Promise<void> {
  const builds = await Promise.all(
    (await readdir(folder)).map(async name => {
      const path = join(folder, name);
      return { path, changedMs: (await stat(path)).mtimeMs };
    }),
  );
  builds.sort((one, other) => other.changedMs - one.changedMs);
  for (const { path } of builds.slice(maxKeptBuilds)) await rm(path, { recursive: true, force: true });
}
