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
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const buildScript = join(root, 'scripts/build.ts');

/** Folder of all builds. */
export const distFolder = join(root, 'dist');

/** The hash of the sources, and the state of their files at that time: reading them all takes a good part of a start. */
const knownHashPath = join(root, 'node_modules/.cache/millrace-sources.json');
/** A file that changes again within the resolution of its times looks the same. */
const maxUncertainMs = 2_000;

/**
 * Returns the folder of the build of the sources as they are now: its name is their hash. A folder that exists is complete.
 *
 * @returns {string}
 */
export function currentBuildFolder() {
  const paths = sourcePaths();
  const state = stateOf(paths);
  const known = readKnownHash();
  if (state !== undefined && known?.state === state) return join(distFolder, known.hash);
  const sources = createHash('sha256');
  for (const path of paths)
    sources
      .update(path)
      .update('\0')
      .update(readFileSync(join(root, path)));
  const hash = sources.digest('hex').slice(0, 16);
  if (state !== undefined && stateOf(paths) === state) writeKnownHash({ state, hash });
  return join(distFolder, hash);
}

function sourcePaths() {
  const paths = ['package.json', 'package-lock.json', 'scripts/build.ts', 'config/reference.md'];
  for (const folder of ['docs', 'scripts/build', 'src']) {
    for (const path of readdirSync(join(root, folder), { encoding: 'utf8', recursive: true }).sort()) {
      // Folders have no extension.
      if (/\.\w+$/.test(path)) paths.push(`${folder}/${path}`);
    }
  }
  return paths;
}

/**
 * Returns a text that changes with each file. No program can set the time of a change.
 *
 * @param {readonly string[]} paths
 * @returns {string | undefined} undefined while a file may still change unnoticed
 */
function stateOf(paths) {
  const hash = createHash('sha256');
  let newestMs = 0;
  for (const path of paths) {
    const { ino, size, ctimeMs } = statSync(join(root, path));
    newestMs = Math.max(newestMs, ctimeMs);
    hash.update(`${path}\0${ino} ${size} ${ctimeMs}\n`);
  }
  return Date.now() - newestMs < maxUncertainMs ? undefined : hash.digest('hex');
}

/** @returns {{ readonly state: string, readonly hash: string } | null | undefined} */
function readKnownHash() {
  try {
    return JSON.parse(readFileSync(knownHashPath, 'utf8'));
  } catch {
    return undefined;
  }
}

/** @param {{ readonly state: string, readonly hash: string }} known */
function writeKnownHash(known) {
  const path = `${knownHashPath}.${process.pid}`;
  try {
    mkdirSync(dirname(knownHashPath), { recursive: true });
    writeFileSync(path, JSON.stringify(known));
    renameSync(path, knownHashPath);
  } catch {
    // The folder may be read-only: the sources are read again at the next start.
  }
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
