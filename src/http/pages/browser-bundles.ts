import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BrowserFile, etagOf } from './browser-text.ts';

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
  /** Files that an entry point imports before it runs. */
  readonly importsOf: (entry: string) => string[];
  readonly preloadsOf: (entry: string) => string;
}

interface BrowserBundlesOptions {
  /** Begins the addresses of the files. */
  readonly basePath: string;
  /** Folder of the built browser code. */
  readonly folder: string;
}

/** The browser code, as it was built with the server. */
export class BrowserBundles {
  readonly #options: BrowserBundlesOptions;
  readonly #loaded = new Map<BundleName, Promise<Bundle>>();

  constructor(options: BrowserBundlesOptions) {
    this.#options = options;
  }

  get basePath(): string {
    return this.#options.basePath;
  }

  /** Reads a file of the build that is in no bundle. @returns undefined where there is none */
  async read(path: string): Promise<Buffer | undefined> {
    try {
      return await readFile(join(this.#options.folder, path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** The next call retries a failed load. */
  load(name: BundleName): Promise<Bundle> {
    const known = this.#loaded.get(name);
    if (known !== undefined) return known;
    const loading = readBundle(this.#options.folder, name, this.basePath);
    this.#loaded.set(name, loading);
    loading.catch(() => this.#loaded.delete(name));
    return loading;
  }
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
  const importsOf = (entry: string) => (imports[entry] ?? []).map(urlOf);
  return {
    files: byName,
    urlOf: entry => urlOf(entries[entry]),
    importsOf,
    preloadsOf: entry =>
      importsOf(entry)
        .map(url => `<link rel="modulepreload" href="${url}">`)
        .join('\n'),
  };
}
