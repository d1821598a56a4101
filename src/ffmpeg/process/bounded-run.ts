import { availableParallelism } from 'node:os';
import type { RunLimits } from '../media-tools.ts';
import type { OwnedProcess, ProcessExit } from './owned-process.ts';
import { PausableTimer } from './pausable-timer.ts';
import type { ChildLimits } from './process-limits.ts';

export interface RunResult {
  readonly exit: ProcessExit;
  /** The exceeded limit as the end of a sentence: `took longer than 10 s`. */
  readonly exceededLimit: string | undefined;
}

/** Processor time is a second bound beside the wall clock. */
export function childLimitsOf({ timeoutMs, memoryBytes, outputBytes }: RunLimits): ChildLimits {
  return { memoryBytes, outputBytes, cpuSeconds: (timeoutMs / 1000) * availableParallelism() };
}

/** The output of a stopped run is discarded. */
const stopTimeouts = { interruptAfterMs: 0, killAfterMs: 2_000 };

/** Must end, and show progress, within a time. Paused time does not count. */
export class BoundedRun {
  /** Never rejects. */
  readonly ended: Promise<RunResult>;
  readonly #child: OwnedProcess;
  readonly #deadline: PausableTimer;
  readonly #stall: PausableTimer | undefined;
  #exceededLimit: string | undefined;

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

  noteProgress(): void {
    this.#stall?.restart();
  }

  stopForExceeding(limit: string): void {
    this.#exceededLimit ??= limit;
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
    return { exit, exceededLimit: this.#exceededLimit };
  }
}

function secondsOf(durationMs: number): string {
  return `${durationMs / 1000} s`;
}
