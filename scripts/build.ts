/**
 * Builds what runs: `node scripts/build.ts` writes the server, its commands and the browser code into `dist/`.
 *
 *   node scripts/build.ts --only     removes all other builds, for a package
 *   node scripts/build.ts FOLDER     writes only the browser code, into a folder; `--development` adds source maps
 *
 * A build is in a folder of its own, which is named after its sources: a server that runs loads parts of its build later.
 */
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildBrowserCode } from './build/browser-code.ts';
import { currentBuildFolder, distFolder } from './build/current-build.js';
import { buildServerCode } from './build/server-code.ts';

/** Written by `scripts/player-package.ts`. */
const playerPackage = join(distFolder, 'player');
/** Servers of other versions may still load parts of theirs. */
const maxKeptBuilds = 3;
/** Age of the folder of a build that was killed. */
const maxBuildMs = 3_600_000;

const { values, positionals } = parseArgs({
  options: { only: { type: 'boolean', default: false }, development: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [browserFolder] = positionals;
if (browserFolder === undefined) await buildProduct(values.only);
else await writeFiles(browserFolder, await buildBrowserCode({ isDevelopment: values.development }));

async function buildProduct(isOnly: boolean): Promise<void> {
  const folder = currentBuildFolder();
  if (!existsSync(folder)) {
    const scratch = `${folder}.${process.pid}`;
    try {
      const [server, browser] = await Promise.all([
        buildServerCode(),
        buildBrowserCode({ isDevelopment: false }),
      ]);
      await writeFiles(scratch, server);
      await writeFiles(join(scratch, 'browser'), browser);
      // A build that mixes old and new sources must not be stored.
      if (currentBuildFolder() !== folder) throw new Error('a source changed during the build');
      await rename(scratch, folder).catch((error: unknown) => {
        // Another process was first.
        if (!existsSync(folder)) throw error;
      });
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }
  await removeOldBuilds(folder, isOnly ? 1 : maxKeptBuilds);
}

/** Writes files whose bytes are on disk when it returns, so that a crash leaves no half of a build. */
async function writeFiles(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  await Promise.all(
    [...files].map(async ([name, content]) => {
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true });
      await using file = await open(path, 'w', path.endsWith('.sh') ? 0o755 : 0o644);
      await file.writeFile(content);
      await file.sync();
    }),
  );
}

/** Keeps the builds that were used last. */
async function removeOldBuilds(current: string, maxKept: number): Promise<void> {
  const paths = (await readdir(distFolder))
    .map(name => join(distFolder, name))
    .filter(path => path !== current && path !== playerPackage);
  // Another process may remove them, too.
  const usedMsOf = async (path: string) => (await stat(path).catch(() => undefined))?.mtimeMs ?? 0;
  const others = await Promise.all(paths.map(async path => ({ path, usedMs: await usedMsOf(path) })));
  others.sort((one, other) => other.usedMs - one.usedMs);
  const isScratch = (path: string) => path.includes('.', distFolder.length);
  const complete = others.filter(({ path }) => !isScratch(path)).slice(maxKept - 1);
  const killed = others.filter(
    ({ path, usedMs }) => isScratch(path) && (maxKept === 1 || Date.now() - usedMs > maxBuildMs),
  );
  for (const { path } of [...complete, ...killed]) {
    await rm(path, { recursive: true, force: true }).catch((error: unknown) => {
      // Another user stored compiled code there. Only a package must be without it.
      if (maxKept === 1) throw error;
    });
  }
}
