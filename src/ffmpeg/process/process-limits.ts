import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { childEnvironment, type EnvironmentVariables } from './child-environment.ts';
import { OrphanReaper } from './orphan-reaper.ts';

/** Limits that the operating system holds one process to. */
export interface ChildLimits {
  /** Data of the process, stacks of its threads included; its program and libraries do not count. */
  readonly memoryBytes: number;
  /** Processor time of all its threads together. */
  readonly cpuSeconds: number;
  /** Size of any one file that it writes; 0 for a process that writes to pipes only. */
  readonly outputBytes: number;
}

const daySeconds = 24 * 3600;
/** A run that copies a broadcast takes a few megabytes, and a buffer of some frames. */
const copyMemoryBytes = 512 * 1024 ** 2;

/**
 * Limits of a run that copies a broadcast for as long as it lasts. There is none of the wall clock: one that hangs is ended by its
 * watchdog. One that has taken a day of processor time, which is weeks of copying, is replaced.
 */
export const copyLimits: ChildLimits = {
  memoryBytes: copyMemoryBytes,
  cpuSeconds: daySeconds,
  outputBytes: 0,
};

/** Limits of a run that encodes a broadcast for as long as it lasts: a day of all cores, after which another goes on in its place. */
export function liveEncodeLimits(memoryBytes: number): ChildLimits {
  return { memoryBytes, cpuSeconds: daySeconds * availableParallelism(), outputBytes: 0 };
}

/** Programs that start a process within limits; `undefined` where this machine has none. */
interface LimitPrograms {
  /** Sets resource limits with `ulimit`, then becomes the process. */
  readonly shell: string | undefined;
  /** Of util-linux: has the kernel end the process with its parent. */
  readonly setpriv: string | undefined;
}

const shellPath = '/bin/sh';
const setprivFolders = ['/usr/bin', '/bin', '/usr/local/bin'];
const dieWithParent = ['--pdeathsig', 'KILL', '--'];
/**
 * A limit that cannot be set, as on a system without it, is left out. Memory is a limit of data rather than of the address space: on a
 * machine of many cores the C library reserves gigabytes that it never uses.
 */
const limitScript = [
  'ulimit -c 0 2>/dev/null',
  'ulimit -d "$1" 2>/dev/null',
  'ulimit -t "$2" 2>/dev/null',
  'ulimit -f "$3" 2>/dev/null',
  'shift 3',
  'exec "$@"',
].join('; ');
/** Units of `ulimit -d` and `ulimit -f` (POSIX). */
const dataUnitBytes = 1024;
const fileUnitBytes = 512;

/**
 * Starts child processes within limits of the operating system, and ends them with this process even when that is killed: by the kernel
 * where `setpriv` is there, by an {@link OrphanReaper} elsewhere.
 */
export class ProcessLimits {
  readonly #programs: LimitPrograms;
  /** Of all children. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #reaper: OrphanReaper | undefined;

  /**
   * Finds the programs once, at start.
   *
   * @param variables those of this process, of which children get a few
   */
  static async find(variables: EnvironmentVariables, log: Logger): Promise<ProcessLimits> {
    const environment = childEnvironment(variables);
    const shell = await isExecutable(shellPath);
    let setpriv: string | undefined;
    for (const folder of setprivFolders) {
      setpriv ??= await workingSetpriv(`${folder}/setpriv`, environment, log);
    }
    if (!shell) log.warn('process-limits-missing', { program: shellPath });
    return new ProcessLimits({ shell: shell ? shellPath : undefined, setpriv }, environment, log);
  }

  constructor(programs: LimitPrograms, environment: Readonly<Record<string, string>>, log: Logger) {
    this.#programs = programs;
    this.environment = environment;
    const { shell, setpriv } = programs;
    if (setpriv === undefined && shell !== undefined) this.#reaper = new OrphanReaper(shell, log);
  }

  /** The command that runs `path` with `args` within limits: the program to start, and its arguments. */
  command(path: string, args: readonly string[], limits: ChildLimits): readonly [string, string[]] {
    const { shell, setpriv } = this.#programs;
    const { memoryBytes, cpuSeconds, outputBytes } = limits;
    const numbers = [
      Math.floor(memoryBytes / dataUnitBytes),
      Math.ceil(cpuSeconds),
      Math.floor(outputBytes / fileUnitBytes),
    ];
    const words = [
      ...(setpriv === undefined ? [] : [setpriv, ...dieWithParent]),
      ...(shell === undefined ? [] : [shell, '-c', limitScript, 'limit', ...numbers.map(String)]),
      path,
      ...args,
    ];
    return [words[0]!, words.slice(1)];
  }

  /** Ends the process `pid` with this one, where the kernel does not; `ended` resolves when it is gone. */
  watch(pid: number, ended: Promise<unknown>): void {
    this.#reaper?.watch(pid, ended);
  }
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** `path` where it has the option that is needed: other makers' programs of that name lack it. */
async function workingSetpriv(
  path: string,
  env: Record<string, string>,
  log: Logger,
): Promise<string | undefined> {
  if (!(await isExecutable(path))) return undefined;
  try {
    await promisify(execFile)(path, [...dieWithParent, shellPath, '-c', ':'], {
      timeout: 10_000,
      env,
    });
    return path;
  } catch (error) {
    log.debug('setpriv-unusable', { path, error: messageOf(error) });
    return undefined;
  }
}
