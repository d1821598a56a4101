import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { Server } from 'node:net';
import { constants, devNull, setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import type { ChildAccess } from './isolation.ts';
import type { ChildLimits, ProcessLimits } from './process-limits.ts';

export interface ProcessExit {
  /** `stopped` on request, `ended` with code 0. */
  readonly kind: 'stopped' | 'ended' | 'failed' | 'not-started';
  /** Null after a signal. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Lines of stderr, oldest first, at most 50. */
  readonly lastLines: readonly string[];
}

interface StopTimeouts {
  readonly interruptAfterMs: number;
  readonly killAfterMs: number;
}

const defaultStopTimeouts: StopTimeouts = { interruptAfterMs: 1000, killAfterMs: 2000 };
/** A sandbox that is not ready by then hangs, such as on a file system that does not answer. */
const maxSandboxMs = 10_000;
const maxLastLines = 50;
const maxLineLength = 500;
/** Pid in the description that bubblewrap writes. */
const firstSandboxPid = /"child-pid": (\d+)/;
/** A shell's number for a program that was ended by a signal. Bubblewrap uses it, too. */
const signalExitCode = 128;
const endingSignals = [
  ...([
    'SIGHUP',
    'SIGINT',
    'SIGQUIT',
    'SIGILL',
    'SIGTRAP',
    'SIGABRT',
    'SIGBUS',
    'SIGFPE',
    'SIGKILL',
  ] as const),
  ...(['SIGSEGV', 'SIGPIPE', 'SIGTERM', 'SIGXCPU', 'SIGXFSZ', 'SIGSYS'] as const),
];
/** Descriptors that must be free before a process whose pipes are opened later. */
const minFreeDescriptors = 16;

export abstract class OwnedProcess {
  /** Resolves when the process is gone and its pipes are closed; never rejects. */
  readonly exited: Promise<ProcessExit>;
  readonly #resolveExited: (exit: ProcessExit) => void;
  readonly #lines: string[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  #isStopping = false;
  #isGone = false;
  #isPaused = false;
  readonly #isIsolated: boolean;
  /** The first process in the sandbox, which leads the group of all others there. */
  #sandboxPid: number | undefined;
  /** Sent as soon as there is a sandbox: bubblewrap would leave an unfinished one behind. */
  #waitingSignal: NodeJS.Signals | undefined;

  constructor(isIsolated: boolean) {
    this.#isIsolated = isIsolated;
    const { promise, resolve } = Promise.withResolvers<ProcessExit>();
    this.exited = promise;
    this.#resolveExited = resolve;
  }

  abstract get pid(): number | undefined;

  protected abstract sendSignal(signal: NodeJS.Signals): void;

  protected closeInput(): void {}

  get isGone(): boolean {
    return this.#isGone;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  async stop(timeouts: StopTimeouts = defaultStopTimeouts): Promise<ProcessExit> {
    if (!this.#isGone && !this.#isStopping) {
      this.#isStopping = true;
      // A paused process would not handle SIGINT.
      this.resume();
      this.closeInput();
      this.#later(timeouts.interruptAfterMs, () => this.#send('SIGINT'));
      this.#later(timeouts.interruptAfterMs + timeouts.killAfterMs, () => this.#send('SIGKILL'));
    }
    return this.exited;
  }

  /** Does nothing while stopping or gone. */
  pause(): void {
    if (this.#isGone || this.#isStopping || this.#isPaused) return;
    this.#isPaused = true;
    if (this.canPause) this.#send('SIGSTOP');
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (!this.#isGone) this.#send('SIGCONT');
  }

  async kill(): Promise<ProcessExit> {
    this.#isStopping = true;
    if (!this.#isGone) this.#send('SIGKILL');
    return this.exited;
  }

  /** False until a stopped process could be told from one that has not started. */
  protected get canPause(): boolean {
    return !this.#isIsolated || this.#sandboxPid !== undefined;
  }

  /** Call it when {@link canPause} becomes true. */
  protected pauseLate(): void {
    if (this.#isPaused && this.canPause) this.#send('SIGSTOP');
  }

  /** @param text of bubblewrap's description, which comes before anything that the program writes */
  protected readSandbox(text: string): void {
    const pid = firstSandboxPid.exec(text)?.[1];
    if (pid === undefined || this.#sandboxPid !== undefined) return;
    this.#sandboxPid = Number(pid);
    if (this.#waitingSignal !== undefined) this.#send(this.#waitingSignal);
    else this.pauseLate();
  }

  protected addLine(line: string, log?: Logger): void {
    if (line === '') return;
    const kept = line.slice(0, maxLineLength);
    this.#lines.push(kept);
    if (this.#lines.length > maxLastLines) this.#lines.shift();
    log?.debug('child-said', { line: kept });
  }

  protected finish(hasStarted: boolean, code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#isGone) return;
    this.#isGone = true;
    for (const timer of this.#timers) clearTimeout(timer);
    const kind = !hasStarted ? 'not-started' : this.#isStopping ? 'stopped' : code === 0 ? 'ended' : 'failed';
    const sandboxSignal = this.#isIsolated ? signalOfExitCode(code) : undefined;
    const end = sandboxSignal === undefined ? { code, signal } : { code: null, signal: sandboxSignal };
    this.#resolveExited({ kind, ...end, lastLines: this.#lines });
  }

  #send(signal: NodeJS.Signals): void {
    const pid = this.#sandboxPid;
    // A stopped bubblewrap would not end with its sandbox.
    if (this.#isIsolated && signal === 'SIGKILL') this.sendSignal('SIGCONT');
    // Bubblewrap passes no signals on.
    if (pid !== undefined) signalGroup(pid, signal);
    else if (!this.#isIsolated) this.sendSignal(signal);
    else if (signal !== 'SIGCONT') this.#sendLate(signal);
  }

  #sendLate(signal: NodeJS.Signals): void {
    this.#waitingSignal = signal;
    this.#later(maxSandboxMs, () => {
      if (this.#sandboxPid !== undefined) return;
      for (const child of childrenOf(this.pid)) signalProcess(child, 'SIGKILL');
      this.sendSignal('SIGKILL');
    });
  }

  #later(delayMs: number, action: () => void): void {
    this.#timers.add(setTimeout(action, delayMs));
  }
}

function signalGroup(leader: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-leader, signal);
  } catch {
    // The process leads no group until the program starts, and ignores SIGINT.
    signalProcess(leader, signal === 'SIGINT' ? 'SIGKILL' : signal);
  }
}

function childrenOf(pid: number | undefined): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process is gone.
  }
}

function signalOfExitCode(code: number | null): NodeJS.Signals | undefined {
  return endingSignals.find(signal => code === signalExitCode + constants.signals[signal]);
}

export class PipedProcess extends OwnedProcess {
  readonly #child: ChildProcess;
  #partialLine = '';

  /** @param infoPipe for the description of the sandbox that the process is in */
  constructor(child: ChildProcess, log: Logger, infoPipe?: Readable) {
    super(infoPipe !== undefined);
    this.#child = child;
    infoPipe?.setEncoding('utf8').on('data', (text: string) => this.readSandbox(text));
    let startError: Error | undefined;
    const finish = (code: number | null, signal: NodeJS.Signals | null) => {
      this.addLine(this.#partialLine);
      this.#partialLine = '';
      if (startError !== undefined) this.addLine(messageOf(startError));
      this.finish(child.pid !== undefined, code, signal);
    };
    child.on('error', error => {
      startError = error;
      // Finishes here without a pid: there is no `close`.
      if (child.pid === undefined) finish(null, null);
    });
    child.on('close', finish);
    // Handles EPIPE of a reader that left, which would end the server; `exited` reports it.
    for (const pipe of child.stdio)
      pipe?.on('error', error => log.debug('pipe-error', { error: messageOf(error) }));
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#readLines(text, log));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get stdin(): Writable {
    return this.#child.stdin!;
  }

  output(descriptor: number): Readable {
    return this.#child.stdio[descriptor] as Readable;
  }

  protected sendSignal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  protected override closeInput(): void {
    this.#child.stdin?.end();
  }

  #readLines(text: string, log: Logger): void {
    const lines = (this.#partialLine + text).split(/[\r\n]+/);
    this.#partialLine = (lines.pop() ?? '').slice(-maxLineLength);
    for (const line of lines) this.addLine(line, log);
  }
}

/** Descriptor. */
const firstOutput = 3;

interface StartOptions {
  /** Readable pipes from file descriptor 3 up. */
  readonly outputs: number;
  readonly ids: Readonly<Record<string, unknown>>;
  /** Readable stdout as descriptor 1, no stdin. Default: writable stdin, no stdout. */
  readonly hasStdout?: boolean;
  readonly limits: ChildLimits;
  /** Default: pipes only. */
  readonly access?: ChildAccess | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** 0..19; default 0. */
  readonly niceness?: number;
  /**
   * Receives a listener at {@link sandboxListenerAddress} in the network of the sandbox, which has no other way out. Not called
   * without a sandbox.
   */
  readonly onListener?: ((listener: Server) => void) | undefined;
}

/** Tracks processes, so that none outlives the server. */
export class ProcessOwner {
  readonly limits: ProcessLimits;
  readonly log: Logger;
  readonly #running = new Set<OwnedProcess>();

  constructor(limits: ProcessLimits, log: Logger) {
    this.limits = limits;
    this.log = log;
  }

  get running(): number {
    return this.#running.size;
  }

  get pids(): number[] {
    return [...this.#running].flatMap(({ pid }) => pid ?? []);
  }

  /** `exited` reports a file that cannot be run. @throws Error when memory or descriptors are exhausted */
  start(path: string, args: readonly string[], options: StartOptions): PipedProcess {
    const { isIsolated } = this.limits;
    const onListener = isIsolated ? options.onListener : undefined;
    const pipes = Array.from({ length: options.outputs + (isIsolated ? 1 : 0) }, () => 'pipe' as const);
    const [stdin, stdout] = options.hasStdout ? (['ignore', 'pipe'] as const) : (['pipe', 'ignore'] as const);
    const infoDescriptor = firstOutput + options.outputs;
    const listenerDescriptor = onListener === undefined ? undefined : infoDescriptor + 1;
    const { limits, access, niceness } = options;
    const [program, programArguments] = this.limits.command(path, args, {
      limits,
      access,
      niceness,
      infoDescriptor,
      listenerDescriptor,
    });
    const child = spawn(program, programArguments, {
      stdio: [stdin, stdout, 'pipe', ...pipes, ...(onListener === undefined ? [] : ['ipc' as const])],
      windowsHide: true,
      env: { ...this.limits.environment, ...options.environment },
    });
    // Handles a start without descriptors: Node creates no pipes and emits the error later.
    if (child.stdin === undefined) {
      child.on('error', () => {});
      throw noDescriptorsError(path);
    }
    const log = this.log.child('ffmpeg', { ...options.ids, pid: child.pid });
    if (niceness !== undefined && child.pid !== undefined && !isIsolated) {
      setNiceness(child.pid, niceness, log);
    }
    const infoPipe = isIsolated ? (child.stdio[infoDescriptor] as Readable) : undefined;
    const owned = new PipedProcess(child, log, infoPipe);
    if (onListener !== undefined) {
      child.once('message', (_, listener) => {
        // There is none without free descriptors.
        if (listener instanceof Server) onListener(listener);
        else void owned.kill();
      });
    }
    if (child.pid !== undefined) this.limits.watch(child.pid, owned.exited);
    this.track(owned);
    return owned;
  }

  track(owned: OwnedProcess): void {
    this.#running.add(owned);
    void owned.exited.then(() => this.#running.delete(owned));
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running].map(owned => owned.stop()));
  }
}

/** @throws Error when file descriptors are exhausted */
export function requireFreeDescriptors(path: string): void {
  const descriptors: number[] = [];
  try {
    while (descriptors.length < minFreeDescriptors) descriptors.push(openSync(devNull, 'r'));
  } catch {
    throw noDescriptorsError(path);
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
}

function noDescriptorsError(path: string): Error {
  return new Error(`${path} cannot be started: no file descriptors are left`);
}

/** Right after the start, so that every thread inherits it. */
function setNiceness(pid: number, niceness: number, log: Logger): void {
  try {
    setPriority(pid, niceness);
  } catch (error) {
    log.debug('niceness-not-set', { niceness, error: messageOf(error) });
  }
}
