import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Component } from '../../shared/lifecycle.ts';
import type { Logger } from '../../shared/logger.ts';
import { type BrowserFile, etagOf } from './browser-text.ts';

const run = promisify(execFile);

export const sourceFolder = fileURLToPath(new URL('../../web/', import.meta.url));
/** Sources that the server shares with the browser. */
const pureFolders = ['../../media/webvtt/', '../../shared/limits/'].map(folder =>
  fileURLToPath(new URL(folder, import.meta.url)),
);
/** Inside the installation, so that an image can include builds. */
const installedFolder = fileURLToPath(new URL('../../../dist/browser/', import.meta.url));
const buildScript = fileURLToPath(new URL('build-bundles.ts', import.meta.url));
const buildTimeoutMs = 120_000;
/** Sources that change during a build fail it. */
const maxBuildTries = 5;

const packages = [
  'esbuild',
  'hls.js',
  'preact',
  'preact-iso',
  '@preact/signals',
  '@preact/signals-core',
  'uplot',
] as const;

const bundlePrefixes = {
  player: '/assets/',
  dashboard: '/dashboard/assets/',
  docs: '/docs/assets/',
} as const;

export type BundleName = keyof typeof bundlePrefixes;

/** `manifest.json` of a build. File names contain a hash of the content. */
export type BundleManifest = Readonly<
  Record<
    BundleName,
    {
      /** Media types by file name. */
      readonly files: Readonly<Record<string, string>>;
      /** File names by entry point. */
      readonly entries: Readonly<Record<string, string>>;
      /** Files that an entry point imports before it runs. */
      readonly imports: Readonly<Record<string, readonly string[]>>;
    }
  >
>;

interface Bundle {
  readonly files: ReadonlyMap<string, BrowserFile>;
  readonly urlOf: (entry: string) => string;
  readonly preloadsOf: (entry: string) => string;
}

interface BrowserBundlesOptions {
  /** Begins the addresses of the files. */
  readonly basePath: string;
  readonly fallbackFolder: string;
  /** Adds source maps and skips minification of names. */
  readonly isDevelopment: boolean;
  readonly log: Logger;
}

/** Stores a build under a hash of its sources. A child process builds at the first start after a change. */
export class BrowserBundles implements Component {
  readonly name = 'browser-bundles';
  readonly #options: BrowserBundlesOptions;
  readonly #abort = new AbortController();
  readonly #loaded = new Map<BundleName, Promise<Bundle>>();
  #folder: Promise<string> | undefined;

  constructor(options: BrowserBundlesOptions) {
    this.#options = options;
  }

  get basePath(): string {
    return this.#options.basePath;
  }

  async start(): Promise<void> {
    this.#build().catch((error: unknown) => this.#options.log.error('browser-build-failed', { error }));
  }

  async stop(): Promise<void> {
    this.#abort.abort();
  }

  /** Waits for a running build. The next call retries a failed load. @throws AppError `process-failed` */
  load(name: BundleName): Promise<Bundle> {
    const known = this.#loaded.get(name);
    if (known !== undefined) return known;
    const loading = this.#build().then(folder => readBundle(folder, name, this.basePath));
    this.#loaded.set(name, loading);
    loading.catch(() => this.#loaded.delete(name));
    return loading;
  }

  #build(): Promise<string> {
    this.#folder ??= this.#findOrBuild().catch((error: unknown) => {
      this.#folder = undefined;
      throw error;
    });
    return this.#folder;
  }

  async #findOrBuild(): Promise<string> {
    let failure: unknown;
    for (let tries = 0; tries < maxBuildTries; tries++) {
      const key = await buildKey(this.#options.isDevelopment);
      try {
        return await this.#findOrBuildKey(key);
      } catch (error) {
        this.#abort.signal.throwIfAborted();
        failure = error;
      }
      if ((await buildKey(this.#options.isDevelopment)) === key) break;
    }
    throw new AppError('process-failed', `The browser code could not be built: ${messageOf(failure)}`, {
      cause: failure,
    });
  }

  async #findOrBuildKey(key: string): Promise<string> {
    const { fallbackFolder, isDevelopment, log } = this.#options;
    const folders = [installedFolder, fallbackFolder].map(folder => join(folder, key));
    for (const folder of folders) {
      if (await readManifest(folder).catch(() => undefined)) return folder;
    }
    const startedMs = performance.now();
    let failure: unknown;
    for (const folder of folders) {
      try {
        await runBuild(folder, isDevelopment, this.#abort.signal);
        log.info('browser-code-built', { folder, ms: Math.round(performance.now() - startedMs) });
        return folder;
      } catch (error) {
        this.#abort.signal.throwIfAborted();
        failure = error;
      }
    }
    throw failure;
  }
}

export async function installedBuildFolder(isDevelopment: boolean): Promise<string> {
  return join(installedFolder, await buildKey(isDevelopment));
}

export async function buildKey(isDevelopment: boolean): Promise<string> {
  const hash = createHash('sha256').update(isDevelopment ? 'development' : 'production');
  for (const folder of [sourceFolder, ...pureFolders]) {
    const sources = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = sources.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
    for (const path of paths.sort()) {
      hash.update(path.slice(folder.length)).update(await readFile(path));
    }
  }
  for (const name of packages) {
    const about = findPackageJSON(name, import.meta.url);
    if (about === undefined) throw new Error(`the package ${name} is not installed`);
    hash.update((JSON.parse(await readFile(about, 'utf8')) as { version: string }).version);
  }
  return hash
    .update(await readFile(buildScript))
    .digest('hex')
    .slice(0, 16);
}

async function runBuild(folder: string, isDevelopment: boolean, signal: AbortSignal): Promise<void> {
  const options = isDevelopment ? ['--development'] : [];
  await run(process.execPath, [buildScript, folder, ...options], {
    env: {},
    signal,
    timeout: buildTimeoutMs,
  });
}

async function readManifest(folder: string): Promise<BundleManifest> {
  return JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as BundleManifest;
}

async function readBundle(folder: string, name: BundleName, basePath: string): Promise<Bundle> {
  const { files, entries, imports } = (await readManifest(folder))[name];
  const byName = new Map<string, BrowserFile>();
  for (const [file, contentType] of Object.entries(files)) {
    const path = join(folder, name, file);
    const [plain, gzip] = await Promise.all([readFile(path), readFile(`${path}.gz`)]);
    byName.set(file, { text: { plain, gzip, etag: etagOf(plain) }, contentType });
  }
  const urlOf = (file: string | undefined) => basePath + bundlePrefixes[name] + (file ?? '');
  return {
    files: byName,
    urlOf: entry => urlOf(entries[entry]),
    preloadsOf: entry =>
      (imports[entry] ?? []).map(file => `<link rel="modulepreload" href="${urlOf(file)}">`).join('\n'),
  };
}
