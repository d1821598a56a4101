/**
 * Finds the build of the sources as they are. In plain JavaScript, because the first TypeScript file makes Node load a compiler,
 * which keeps 10 MB.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const buildScript = join(root, 'scripts/build.ts');

/** Folder of all builds. */
export const distFolder = join(root, 'dist');

/**
 * Returns the folder of the build of the sources as they are now: its name is their hash. A folder that exists is complete.
 *
 * @returns {string}
 */
export function currentBuildFolder() {
  const hash = createHash('sha256');
  for (const path of ['package.json', 'package-lock.json', 'scripts/build.ts', 'config/reference.md'])
    hash.update(readFileSync(join(root, path)));
  for (const folder of ['docs', 'scripts/build', 'src']) {
    for (const path of readdirSync(join(root, folder), { encoding: 'utf8', recursive: true }).sort()) {
      // Folders have no extension.
      if (!/\.\w+$/.test(path)) continue;
      hash
        .update(path)
        .update('\0')
        .update(readFileSync(join(root, folder, path)));
    }
  }
  return join(distFolder, hash.digest('hex').slice(0, 16));
}

/**
 * Returns the folder of the build of the sources as they are now, and builds it if it is missing.
 *
 * @returns {string | undefined} undefined where it cannot be stored
 * @throws {Error} when the build fails
 */
export function findOrBuild() {
  // Sources that change meanwhile fail a build.
  for (let tries = 0; ; tries += 1) {
    const folder = currentBuildFolder();
    if (existsSync(folder)) {
      keepBuild(folder);
      return folder;
    }
    if (!isWritable(existsSync(distFolder) ? distFolder : root)) return undefined;
    try {
      build([]);
    } catch (error) {
      if (tries === 3 || currentBuildFolder() === folder) throw error;
    }
  }
}

/**
 * Builds the browser code into a folder that is removed at the end of this process.
 *
 * @param {...string} options
 * @returns {string} the folder
 * @throws {Error} when the build fails
 */
export function buildBrowserCode(...options) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-browser-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  build([folder, ...options]);
  return folder;
}

/** @param {string[]} args */
function build(args) {
  if (!existsSync(join(root, 'node_modules/esbuild'))) {
    throw new Error(
      'Millrace is not built, and the packages that build it are not installed: run `npm ci --include=dev`.',
    );
  }
  process.stderr.write('Millrace is being built, which takes a few seconds.\n');
  const { status, signal, error, stderr } = spawnSync(process.execPath, [buildScript, ...args], {
    env: {},
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status === 0) return;
  throw new Error(
    `Millrace could not be built: ${error?.message ?? (stderr.trim() || `the build ended by ${signal}`)}`,
  );
}

/**
 * Makes a build the last one to be removed.
 *
 * @param {string} folder
 */
function keepBuild(folder) {
  const now = new Date();
  try {
    utimesSync(folder, now, now);
  } catch {
    // It belongs to another user, or is read-only.
  }
}

/** @param {string} folder */
function isWritable(folder) {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
