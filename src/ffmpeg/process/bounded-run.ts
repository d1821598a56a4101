import { availableParallelism } from 'node:os';
import type { RunLimits } from '../media-tools.ts';
import type { OwnedProcess, ProcessExit } from './owned-process.ts';
import { PausableTimer } from './pausable-timer.ts';
import type { ChildLimits } from './process-limits.ts';

/** How a bounded run ended. */
export interface RunResult {
  readonly exit: ProcessExit;
  /** Which bound it overstepped, as the end of a sentence: `took longer than 10 s`; undefined when it kept to all. */
  readonly exceededLimit: string | undefined;
}

/** The limits that the operating system holds a bounded run to; processor time is a bound for one that the wall clock misses. */
export function childLimitsOf({ timeoutMs, memoryBytes, outputBytes }: RunLimits): ChildLimits {
  return { memoryBytes, outputBytes, cpuSeconds: (timeoutMs / 1000) * availableParallelism() };
}

/** There is nothing to save: what it wrote is thrown away. */
const stopTimeouts = { interruptAfterMs: 0, killAfterMs: 2_000 };

/** A process with a time in which it must end and show progress. Time in which it stands still does not count. */
export class BoundedRun {
  /** Resolves when the process is gone; never rejects. */
  readonly ended: Promise<RunResult>;
  readonly #child: OwnedProcess;
  readonly #deadline: PausableTimer;
  readonly #stall: PausableTimer | undefined;
  #overstepped: string | undefined;

  /** @param signal ends the process when it aborts */
  constructor(child: OwnedProcess, limits: RunLimits, signal: AbortSignal) {
    this.#child = child;
    this.#deadline = new PausableTimer(limits.timeoutMs, () =>
      this.stopForExceeding(`took longer than ${secondsOf(limits.timeoutMs)}`),
    );
    const { stallMs } = limits;
    if (stallMs !== undefined) {
      this.#stall = new PausableTimer(stallMs, () =>
        this.stopForExceeding(`showed no progress for ${secondsOf(stallMs)}`),
      );
    }
    this.ended = this.#watch(signal);
  }

  /** It has done something: the time in which it must show progress begins anew. */
  noteProgress(): void {
    this.#stall?.restart();
  }

  /** Ends it for going too far. */
  stopForExceeding(what: string): void {
    this.#overstepped ??= what;
    void this.#child.stop(stopTimeouts);
  }

  pause(): void {
    this.#deadline.pause();
    this.#stall?.pause();
    this.#child.pause();
  }

  resume(): void {
    this.#child.resume();
    this.#deadline.resume();
    this.#stall?.resume();
  }

  async #watch(signal: AbortSignal): Promise<RunResult> {
    const abort = () => void this.#child.stop(stopTimeouts);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    const exit = await this.#child.exited;
    signal.removeEventListener('abort', abort);
    this.#deadline.clear();
    this.#stall?.clear();
    return { exit, exceededLimit: this.#overstepped };
  }
}

function secondsOf(durationMs: number): string {
  return `${durationMs / 1000} s`;
}
