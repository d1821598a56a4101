import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import type { ChildLimits, ProcessLimits } from './process-limits.ts';

/** What became of a child process. Asked to stop, died by itself, and could not start are three different things. */
export interface ProcessExit {
  readonly kind: 'stopped' | 'ended' | 'failed' | 'not-started';
  /** Exit code, or null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines that it wrote to stderr, oldest first, at most 50. */
  readonly lastLines: readonly string[];
}

/** How a process is stopped: input closed, then SIGINT, then SIGKILL, each after so many milliseconds more. */
export interface StopTimeouts {
  readonly interruptAfterMs: number;
  readonly killAfterMs: number;
}

const defaultLadder: StopTimeouts = { interruptAfterMs: 1000, killAfterMs: 2000 };
const keptLines = 50;
const longestLine = 500;

/** A child process that is always waited for and always ended. */
export class OwnedProcess {
  readonly pid: number | undefined;
  /** Resolves once, when the process is gone and its pipes are closed; never rejects. */
  readonly exited: Promise<ProcessExit>;
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  #stopAsked = false;
  #isGone = false;
  #isPaused = false;
  #partialLine = '';

  constructor(child: ChildProcess, log: Logger) {
    this.#child = child;
    this.pid = child.pid;
    const { promise, resolve } = Promise.withResolvers<ProcessExit>();
    this.exited = promise;

    let startError: Error | undefined;
    child.on('error', error => {
      startError = error;
      // Without a pid there will be no `close`.
      if (child.pid === undefined) finish(null, null);
    });
    const finish = (code: number | null, signal: NodeJS.Signals | null) => {
      if (this.#isGone) return;
      this.#isGone = true;
      for (const timer of this.#timers) clearTimeout(timer);
      if (this.#partialLine !== '') this.#keep(this.#partialLine);
      if (startError !== undefined) this.#keep(messageOf(startError));
      const kind =
        child.pid === undefined
          ? 'not-started'
          : this.#stopAsked
            ? 'stopped'
            : code === 0
              ? 'ended'
              : 'failed';
      resolve({ kind, code, signal, lastLines: this.#lines });
    };
    child.on('close', finish);
    // A reader that left is told by `exited`; without these handlers EPIPE would end the server.
    for (const pipe of child.stdio)
      pipe?.on('error', error => log.debug('pipe-error', { error: messageOf(error) }));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#readLines(text, log));
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  get stdin(): Writable {
    return this.#child.stdin!;
  }

  /** The readable pipe with file descriptor `descriptor`, 1 or from 3 up. */
  output(descriptor: number): Readable {
    return this.#child.stdio[descriptor] as Readable;
  }

  /** Goes down the ladder until the process is gone. Safe at any time and more than once. */
  async stop(ladder: StopTimeouts = defaultLadder): Promise<ProcessExit> {
    if (!this.#isGone && !this.#stopAsked) {
      this.#stopAsked = true;
      // A stopped process would take no SIGINT.
      this.resume();
      this.#child.stdin?.end();
      this.#later(ladder.interruptAfterMs, () => this.#child.kill('SIGINT'));
      this.#later(ladder.interruptAfterMs + ladder.killAfterMs, () => this.#child.kill('SIGKILL'));
    }
    return this.exited;
  }

  /** Lets it stand still until {@link resume}; one that is stopping or gone goes on. */
  pause(): void {
    if (this.#isGone || this.#stopAsked || this.#isPaused) return;
    this.#isPaused = this.#child.kill('SIGSTOP');
  }

  /** Lets it go on. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (!this.#isGone) this.#child.kill('SIGCONT');
  }

  /** Ends it at once, for output that nobody wants any more. */
  async kill(): Promise<ProcessExit> {
    this.#stopAsked = true;
    if (!this.#isGone) this.#child.kill('SIGKILL');
    return this.exited;
  }

  #later(delayMs: number, action: () => void): void {
    this.#timers.add(setTimeout(action, delayMs));
  }

  #readLines(text: string, log: Logger): void {
    const lines = (this.#partialLine + text).split(/[\r\n]+/);
    this.#partialLine = (lines.pop() ?? '').slice(-longestLine);
    for (const line of lines) {
      if (line === '') continue;
      this.#keep(line.slice(0, longestLine));
      log.debug('child-said', { line: line.slice(0, longestLine) });
    }
  }

  #keep(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > keptLines) this.#lines.shift();
  }
}

/** How a process is started. */
export interface StartOptions {
  /** How many readable pipes it gets beside stdout and stderr, from file descriptor 3 up. */
  readonly outputs: number;
  /** Go on its log lines. */
  readonly ids: Readonly<Record<string, unknown>>;
  /** It works on files: nothing on its stdin, and its stdout can be read as descriptor 1. Otherwise it is the other way round. */
  readonly isOnFiles?: boolean;
  readonly limits: ChildLimits;
  /** Variables that it gets beside those of all children. */
  readonly environment?: Readonly<Record<string, string>>;
  /** 1..19: how much it gives way to others; 0 unless given. */
  readonly niceness?: number;
}

/** Starts processes within limits and knows all that run, so that they can be counted and none outlives the server. */
export class ProcessOwner {
  readonly #running = new Set<OwnedProcess>();
  readonly #limits: ProcessLimits;
  readonly #log: Logger;

  constructor(limits: ProcessLimits, log: Logger) {
    this.#limits = limits;
    this.#log = log;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Process ids of those that run. */
  get pids(): number[] {
    return [...this.#running].flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  /**
   * Starts `path`. A file that cannot be run is reported by `exited`.
   *
   * @throws Error when there is nothing left to start a process with: memory or file descriptors
   */
  start(path: string, args: readonly string[], options: StartOptions): OwnedProcess {
    const pipes = Array.from({ length: options.outputs }, () => 'pipe' as const);
    const [stdin, stdout] = options.isOnFiles ? (['ignore', 'pipe'] as const) : (['pipe', 'ignore'] as const);
    const [program, words] = this.#limits.command(path, args, options.limits);
    const child = spawn(program, words, {
      stdio: [stdin, stdout, 'pipe', ...pipes],
      windowsHide: true,
      env: { ...this.#limits.environment, ...options.environment },
    });
    // Out of file descriptors Node makes no pipes at all, and tells of it later.
    if (child.stdin === undefined) {
      child.on('error', () => {});
      throw new Error(`${path} cannot be started: no file descriptors are left`);
    }
    const log = this.#log.child('ffmpeg', { ...options.ids, pid: child.pid });
    if (options.niceness !== undefined && child.pid !== undefined)
      setNiceness(child.pid, options.niceness, log);
    const owned = new OwnedProcess(child, log);
    this.#running.add(owned);
    if (child.pid !== undefined) this.#limits.watch(child.pid, owned.exited);
    void owned.exited.then(() => this.#running.delete(owned));
    return owned;
  }

  /** Ends all that still run. */
  async stop(): Promise<void> {
    await Promise.all([...this.#running].map(owned => owned.stop()));
  }
}

/** At once after the start, so that all threads that it makes are nice too. */
function setNiceness(pid: number, niceness: number, log: Logger): void {
  try {
    setPriority(pid, niceness);
  } catch (error) {
    log.debug('niceness-not-set', { niceness, error: messageOf(error) });
  }
}
