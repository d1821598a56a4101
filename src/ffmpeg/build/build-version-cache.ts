import { readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';

export interface BuildVersions {
  readonly version: string;
  readonly formatVersion: number;
  /** Options that it was built with, such as `--enable-libx264`. */
  readonly configuration: string;
}

/**
 * Running a distribution's ffmpeg loads some 200 shared libraries, 140 MB. Skipped if its file is unchanged.
 */
export class BuildVersionCache {
  readonly #path: string;
  readonly #cached: ReadonlyMap<string, BuildVersions>;
  /** Versions in use. Others are removed from the file. */
  readonly #used = new Map<string, BuildVersions>();

  static async read(path: string): Promise<BuildVersionCache> {
    return new BuildVersionCache(path, await readEntries(path));
  }

  private constructor(path: string, cached: ReadonlyMap<string, BuildVersions>) {
    this.#path = path;
    this.#cached = cached;
  }

  /** @throws what `inspect` throws */
  async versionsOf(path: string, inspect: () => Promise<BuildVersions>): Promise<BuildVersions> {
    const key = await keyOf(path);
    if (key === undefined) return inspect();
    const versions = this.#cached.get(key) ?? (await inspect());
    this.#used.set(key, versions);
    return versions;
  }

  async save(): Promise<void> {
    if (this.#used.size === this.#cached.size && [...this.#used.keys()].every(key => this.#cached.has(key)))
      return;
    const newPath = `${this.#path}.new`;
    await writeFile(newPath, `${JSON.stringify(Object.fromEntries(this.#used), undefined, 2)}\n`);
    await rename(newPath, this.#path);
  }
}

async function keyOf(path: string): Promise<string | undefined> {
  try {
    const file = await realpath(path);
    const { size, mtimeMs } = await stat(file);
    return `${file} ${size} ${mtimeMs}`;
  } catch {
    return undefined;
  }
}

async function readEntries(path: string): Promise<Map<string, BuildVersions>> {
  try {
    const entries = Object.entries(JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>);
    return new Map(entries.filter((entry): entry is [string, BuildVersions] => isVersions(entry[1])));
  } catch {
    return new Map();
  }
}

function isVersions(value: unknown): value is BuildVersions {
  const { version, formatVersion, configuration } = (value ?? {}) as Partial<
    Record<keyof BuildVersions, unknown>
  >;
  return (
    typeof version === 'string' && typeof formatVersion === 'number' && typeof configuration === 'string'
  );
}
