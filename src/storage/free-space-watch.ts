import type { Clock } from '../shared/clock.ts';
import type { Logger } from '../shared/logger.ts';
import type { FreeDiskSpace } from './media-files.ts';

interface FreeSpaceWatchOptions {
  readonly freeBytes: () => Promise<number>;
  readonly makeRoom?: FreeDiskSpace;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface SpaceLevel {
  readonly hasSpace: boolean;
}

interface WatchedLevel {
  readonly minFreeBytes: number;
  readonly onChange: (hasSpace: boolean, freeBytes: number) => void;
  hasSpace: boolean;
}

/** Extra free space before starting again, against alternation. */
const hysteresisShare = 0.1;
const minHysteresisBytes = 64 * 1024 * 1024;
const minIntervalMs = 3000;

/** Tells recordings and live media when the disk has too little space for them. Makes room first. */
export class FreeSpaceWatch {
  readonly #options: FreeSpaceWatchOptions;
  readonly #levels: WatchedLevel[] = [];
  #checkedAtMs = Number.NEGATIVE_INFINITY;
  #checking: Promise<void> | undefined;

  constructor(options: FreeSpaceWatchOptions) {
    this.#options = options;
  }

  /** @param minFreeBytes 0 always has space */
  watch(minFreeBytes: number, onChange: WatchedLevel['onChange'] = () => {}): SpaceLevel {
    const level = { minFreeBytes, onChange, hasSpace: true };
    this.#levels.push(level);
    return level;
  }

  /** Checks in the background unless that was done a moment ago. */
  checkOften(): void {
    if (this.#options.clock.monotonicMs() - this.#checkedAtMs >= minIntervalMs) void this.check();
  }

  check(): Promise<void> {
    this.#checkedAtMs = this.#options.clock.monotonicMs();
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #check(): Promise<void> {
    const { freeBytes, makeRoom, log } = this.#options;
    const wanted = Math.max(0, ...this.#levels.map(wantedBytes));
    let free: number;
    try {
      free = await freeBytes();
      if (free < wanted && makeRoom !== undefined) {
        await makeRoom(async () => wanted - (await freeBytes()));
        free = await freeBytes();
      }
    } catch (error) {
      log.error('free-bytes-unknown', { error });
      return;
    }
    for (const level of this.#levels) {
      const hasSpace = free >= wantedBytes(level);
      if (hasSpace === level.hasSpace) continue;
      level.hasSpace = hasSpace;
      level.onChange(hasSpace, free);
    }
  }
}

function wantedBytes({ minFreeBytes, hasSpace }: WatchedLevel): number {
  if (hasSpace || minFreeBytes === 0) return minFreeBytes;
  return minFreeBytes + Math.max(minHysteresisBytes, minFreeBytes * hysteresisShare);
}
