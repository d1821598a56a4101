import { readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';

/** The versions that a program reports; `formatVersion` is that of libavformat. */
export interface BuildVersions {
  readonly version: string;
  readonly formatVersion: number;
}

/**
 * The versions of programs that an earlier start has asked for, in a file. Asking an ffmpeg of a distribution loads some 200 shared
 * libraries, 140 MB that a machine which has just booted reads from its disk. A program whose file has changed is asked again.
 */
export class BuildVersionCache {
  readonly #path: string;
  readonly #before: ReadonlyMap<string, BuildVersions>;
  /** Of the programs that were asked for since; what is not used any more is forgotten. */
  readonly #used = new Map<string, BuildVersions>();

  /** Reads what is known; nothing is where the file does not exist or cannot be read. */
  static async read(path: string): Promise<BuildVersionCache> {
    return new BuildVersionCache(path, await readEntries(path));
  }

  private constructor(path: string, before: ReadonlyMap<string, BuildVersions>) {
    this.#path = path;
    this.#before = before;
  }

  /** The versions of the program at `path`: those that are known, else what `ask` finds out. @throws whatever `ask` throws */
  async versionsOf(path: string, ask: () => Promise<BuildVersions>): Promise<BuildVersions> {
    const key = await keyOf(path);
    if (key === undefined) return ask();
    const versions = this.#before.get(key) ?? (await ask());
    this.#used.set(key, versions);
    return versions;
  }

  /** Writes what was used, unless it is there already. @throws what the file system throws */
  async save(): Promise<void> {
    if (this.#used.size === this.#before.size && [...this.#used.keys()].every(key => this.#before.has(key)))
      return;
    const newPath = `${this.#path}.new`;
    await writeFile(newPath, `${JSON.stringify(Object.fromEntries(this.#used), undefined, 2)}\n`);
    await rename(newPath, this.#path);
  }
}

/** The file behind `path`, and what changes with its content; undefined where there is none. */
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
  const { version, formatVersion } = (value ?? {}) as Partial<Record<keyof BuildVersions, unknown>>;
  return typeof version === 'string' && typeof formatVersion === 'number';
}
