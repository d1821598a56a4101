import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { PeriodicTask } from '../../shared/scheduling/periodic-tasks.ts';

interface IdleMemoryOptions {
  /** Caches whose content can be read again. */
  readonly caches: readonly { releaseMemory(): void }[];
  /** A collection would delay the media of a broadcast by tens of milliseconds. */
  readonly isBroadcasting: () => boolean;
  /** Returns what the C library keeps. */
  readonly trim: () => void;
  readonly residentBytes?: () => number;
  readonly collectGarbage?: () => void;
  /** Cores that this process used since the last call. */
  readonly processorUse?: () => number;
}

/** A busy server soon needs what it has freed. */
const maxCores = 0.1;
const minBytes = 16 * 1024 * 1024;
/** Broadcasts soon need what is returned. */
const liveChecksPerTrim = 10;
/** Media of a broadcast that has ended stays in memory for about a minute. */
const maxChecksInVain = 3;

/**
 * Gives memory back to the system while the server has little to do. V8 collects nothing as long as nothing is allocated, and the
 * C library keeps what is freed between used memory.
 */
export class IdleMemory implements PeriodicTask {
  readonly name = 'idle-memory';
  readonly #options: Required<IdleMemoryOptions>;
  /** Resident after the last release. */
  #keptBytes = 0;
  #checksInVain = 0;
  #liveChecks = 0;

  constructor(options: IdleMemoryOptions) {
    this.#options = {
      residentBytes: () => process.memoryUsage.rss(),
      collectGarbage: garbageCollector(),
      processorUse: processorMeter(),
      ...options,
    };
  }

  /** Called once a minute. Returns nothing to log. */
  run(): number {
    const { caches, isBroadcasting, trim, residentBytes, collectGarbage, processorUse } = this.#options;
    const isBusy = processorUse() > maxCores;
    const isLive = isBroadcasting();
    const before = residentBytes();
    if (isBusy || isLive || before - this.#keptBytes > minBytes) this.#checksInVain = 0;
    this.#liveChecks = isLive ? this.#liveChecks + 1 : 0;
    if (isBusy || this.#checksInVain === maxChecksInVain) return 0;
    if (this.#liveChecks % liveChecksPerTrim > 0) return 0;
    if (!isLive) {
      for (const cache of caches) cache.releaseMemory();
      collectGarbage();
    }
    trim();
    this.#keptBytes = residentBytes();
    if (before - this.#keptBytes > minBytes) this.#checksInVain = 0;
    else this.#checksInVain += 1;
    return 0;
  }
}

/** Returns the garbage collector. Only contexts made after this flag was set have V8's `gc`. */
function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

function processorMeter(): () => number {
  let last = process.cpuUsage();
  let lastMs = performance.now();
  return () => {
    const now = process.cpuUsage();
    const nowMs = performance.now();
    const usedMs = (now.user + now.system - last.user - last.system) / 1000;
    const share = usedMs / (nowMs - lastMs);
    last = now;
    lastMs = nowMs;
    return share;
  };
}
