import type { Logger } from '../../shared/logger.ts';
import type { FreeDiskSpace } from '../../storage/media-files.ts';

interface DiskSpaceMonitorOptions {
  /** 0 turns the monitor off. */
  readonly minFreeBytes: number;
  readonly freeBytes: () => Promise<number>;
  readonly makeRoom: FreeDiskSpace | undefined;
  readonly log: Logger;
}

/** Extra free space before starting again, against alternation. */
const hysteresisShare = 0.1;
const minHysteresisBytes = 64 * 1024 * 1024;

export class DiskSpaceMonitor {
  readonly #options: DiskSpaceMonitorOptions;
  #hasSpace = true;

  constructor(options: DiskSpaceMonitorOptions) {
    this.#options = options;
  }

  get hasSpace(): boolean {
    return this.#hasSpace;
  }

  async check(): Promise<number | undefined> {
    const { minFreeBytes, freeBytes, makeRoom, log } = this.#options;
    const wantedBytes = this.#hasSpace
      ? minFreeBytes
      : minFreeBytes + Math.max(minHysteresisBytes, minFreeBytes * hysteresisShare);
    let free: number;
    try {
      free = await freeBytes();
      if (minFreeBytes > 0 && free < wantedBytes && makeRoom !== undefined) {
        await makeRoom(async () => wantedBytes - (await freeBytes()));
        free = await freeBytes();
      }
    } catch (error) {
      log.error('free-bytes-unknown', { error });
      return undefined;
    }
    const hasSpace = minFreeBytes === 0 || free >= wantedBytes;
    if (hasSpace === this.#hasSpace) return undefined;
    this.#hasSpace = hasSpace;
    return free;
  }
}
