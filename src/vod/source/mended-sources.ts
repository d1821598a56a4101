import { join } from 'node:path';
import type { MediaFiles } from '../../storage/media-files.ts';

interface KeptCopy {
  readonly path: Promise<string>;
  readonly ended: Promise<void>;
  users: number;
  timer: NodeJS.Timeout | undefined;
  /** Removes the copy. */
  end(): void;
}

/** The jobs of a video follow each other. */
const keepIdleMs = 60_000;

/**
 * Copies of sources that ffmpeg would read wrongly. One is kept for the jobs of its video: until a minute after the last of them, or
 * until another one is made.
 */
export class MendedSources {
  readonly #files: MediaFiles;
  readonly #copies = new Map<string, KeptCopy>();
  #isStopped = false;

  constructor(files: MediaFiles) {
    this.#files = files;
  }

  /**
   * Calls `work` with a copy.
   * @param key names the source and its content
   * @param make writes the copy, for all that wait for it
   */
  async use<Result>(
    key: string,
    make: (path: string) => Promise<void>,
    work: (path: string) => Promise<Result>,
  ): Promise<Result> {
    const copy = this.#copies.get(key) ?? this.#begin(key, make);
    copy.users += 1;
    clearTimeout(copy.timer);
    try {
      return await work(await copy.path);
    } finally {
      copy.users -= 1;
      if (copy.users === 0) {
        copy.timer = setTimeout(copy.end, this.#isStopped ? 0 : keepIdleMs).unref();
      }
    }
  }

  /** Removes the copies that no job uses. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#endIdle();
  }

  #begin(key: string, make: (path: string) => Promise<void>): KeptCopy {
    const made = Promise.withResolvers<string>();
    const over = Promise.withResolvers<void>();
    const makeAndKeep = async () => {
      await this.#endIdle();
      await this.#files.inWorkFolder(async folder => {
        const path = join(folder, 'source');
        await make(path);
        made.resolve(path);
        await over.promise;
      });
    };
    const end = () => {
      if (this.#copies.get(key) === copy) this.#copies.delete(key);
      over.resolve();
    };
    const ended = makeAndKeep().catch((error: unknown) => {
      made.reject(error);
      end();
    });
    const copy: KeptCopy = { path: made.promise, ended, users: 0, timer: undefined, end };
    this.#copies.set(key, copy);
    return copy;
  }

  async #endIdle(): Promise<void> {
    const idle = [...this.#copies.values()].filter(({ users }) => users === 0);
    for (const { timer, end } of idle) {
      clearTimeout(timer);
      end();
    }
    await Promise.all(idle.map(({ ended }) => ended));
  }
}
