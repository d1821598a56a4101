import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';

/** Folders with files that exist nowhere else. */
const lasting = ['vod', 'uploads', 'live', 'players', 'watermarks'] as const;
/** Folders with files of work that runs. */
const temporary = ['work', 'incoming', join('cache', 'scratch')] as const;

/**
 * The folders of the data folder, from the moment that each is first seen. One that was deleted or replaced, or whose disk was
 * unmounted, has lost its files, and what is written there now may be hidden later.
 */
export class DataFolderParts {
  readonly #root: string;
  readonly #log: Logger | undefined;
  #lastFault: string | undefined;
  readonly #known = new Map<string, { readonly device: number; readonly inode: number }>();

  constructor(root: string, log?: Logger) {
    this.#root = root;
    this.#log = log;
  }

  /** Looks at all of them, and creates missing folders of temporary files again. */
  findFault(): string | undefined {
    const faults = [
      ...lasting.map(name => this.#faultOf(name)),
      ...temporary.map(name => this.#faultOfTemporary(name)),
    ];
    const fault = faults.find(one => one !== undefined);
    if (fault !== this.#lastFault && fault !== undefined) this.#log?.error('data-folder-damaged', { fault });
    this.#lastFault = fault;
    return fault;
  }

  /** Logs what is at fault. Returns 0. */
  watch(): number {
    this.findFault();
    return 0;
  }

  /** @throws AppError `data-dir-unusable` */
  assertIntact(): void {
    const fault = this.findFault();
    if (fault !== undefined) throw new AppError('data-dir-unusable', fault);
  }

  #faultOf(name: string): string | undefined {
    const path = join(this.#root, name);
    const found = findFolder(path);
    const known = this.#known.get(name);
    if (known === undefined) {
      if (found !== undefined) this.#known.set(name, found);
      return undefined;
    }
    if (found?.device === known.device && found.inode === known.inode) return undefined;
    return `${path} is not the folder that the server used: it was deleted or replaced, or its disk was unmounted. Restore it, and start the server again.`;
  }

  #faultOfTemporary(name: string): string | undefined {
    const path = join(this.#root, name);
    const known = this.#known.get(name);
    let found = findFolder(path);
    if (found === undefined && known !== undefined) {
      try {
        mkdirSync(path, { recursive: true, mode: 0o700 });
      } catch (error) {
        return `${path} was deleted, and cannot be created again: ${messageOf(error)}. Create this folder, or start the server again.`;
      }
      found = findFolder(path);
      this.#log?.warn('folder-created-again', { path });
    }
    if (found === undefined) return undefined;
    if (known !== undefined && found.device !== known.device) {
      return `${path} is on another disk than when the server started. Put it back, and start the server again.`;
    }
    this.#known.set(name, found);
    return undefined;
  }
}

function findFolder(path: string): { readonly device: number; readonly inode: number } | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isDirectory() ? { device: found.dev, inode: found.ino } : undefined;
  } catch {
    // Not a folder on the way, a loop of links, or a disk that fails.
    return undefined;
  }
}
