/**
 * Bundles the server: `node src/cli/build-server.ts`. Node then loads ten files instead of hundreds, without a TypeScript
 * compiler, which takes less time and memory. Packages stay in `node_modules`.
 */
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { serverBundleFolder } from './server-bundle.js';

const sources = fileURLToPath(new URL('../', import.meta.url));
/** Servers of other versions may still load parts of theirs. */
const maxKeptBuilds = 3;

/** Paths that modules find beside themselves stay those of the sources. */
const keepUrls: Plugin = {
  name: 'keep-urls',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      const url = `../../../src/${relative(sources, path).replaceAll('\\', '/')}`;
      const contents = await readFile(path, 'utf8');
      return {
        contents: contents.replaceAll('import.meta.url', `new URL('${url}', import.meta.url).href`),
        loader: 'ts',
      };
    });
  },
};

const folder = fileURLToPath(serverBundleFolder()).slice(0, -1);
await writeBuild();
await removeOldBuilds();

/** Builds beside the target and renames the result. The bytes are on disk before, so that a crash leaves no half of a build. */
async function writeBuild(): Promise<void> {
  const scratch = `${folder}.${process.pid}`;
  const { outputFiles } = await build({
    absWorkingDir: sources,
    entryPoints: ['main.ts'],
    outdir: scratch,
    write: false,
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    legalComments: 'none',
    logLevel: 'silent',
    tsconfigRaw: {},
    plugins: [keepUrls],
  });
  await mkdir(scratch, { recursive: true });
  try {
    for (const { path, contents } of outputFiles) {
      await using file = await open(path, 'w');
      await file.writeFile(contents);
      await file.sync();
    }
    // A build that mixes old and new sources must not be stored.
    if (fileURLToPath(serverBundleFolder()) !== `${folder}/`)
      throw new Error('a source changed during the build');
    await rename(scratch, folder).catch(async (error: unknown) => {
      // Another process wrote the bundle first.
      await stat(join(folder, 'main.js')).catch(() => {
        throw error;
      });
    });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function removeOldBuilds(): Promise<void> {
  const builds = await Promise.all(
    (await readdir(dirname(folder))).map(async name => {
      const path = join(dirname(folder), name);
      return { path, changedMs: (await stat(path)).mtimeMs };
    }),
  );
  builds.sort((one, other) => other.changedMs - one.changedMs);
  for (const { path } of builds.slice(maxKeptBuilds)) await rm(path, { recursive: true, force: true });
}
