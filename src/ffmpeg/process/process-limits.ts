import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { childEnvironment, type EnvironmentVariables } from './child-environment.ts';
import { OrphanReaper } from './orphan-reaper.ts';

/** Limits that the operating system enforces on one process. */
export interface ChildLimits {
  /** Data of the process and the stacks of its threads, without its program and libraries. */
  readonly memoryBytes: number;
  /** Processor time of all threads together. */
  readonly cpuSeconds: number;
  /** Size of any one file that it writes; 0 for a process that writes to pipes only. */
  readonly outputBytes: number;
}

const daySeconds = 24 * 3600;

/**
 * Limits of a process that copies a broadcast, which takes a few megabytes. A watchdog ends one that hangs, so wall-clock time has no
 * limit. A day of processor time is weeks of copying.
 */
export const copyLimits: ChildLimits = {
  memoryBytes: 512 * 1024 ** 2,
  cpuSeconds: daySeconds,
  outputBytes: 0,
};

/** Limits of a process that encodes a broadcast. After a day of all cores another process takes over. */
export function liveEncodeLimits(memoryBytes: number): ChildLimits {
  return { memoryBytes, cpuSeconds: daySeconds * availableParallelism(), outputBytes: 0 };
}

/** Programs that start a process within limits; undefined where this machine lacks them. */
interface LimitPrograms {
  /** Sets resource limits with `ulimit`, then becomes the process. */
  readonly shell: string | undefined;
  /** util-linux: makes the kernel end the process with its parent. */
  readonly setpriv: string | undefined;
  /** Starts a process for fluent-ffmpeg. */
  readonly launcher?: string | undefined;
}

const shellPath = '/bin/sh';
const launcherPath = fileURLToPath(new URL('./launch.sh', import.meta.url));
const setprivFolders = ['/usr/bin', '/bin', '/usr/local/bin'];
const dieWithParent = ['--pdeathsig', 'KILL', '--'];
/**
 * Skips limits that the system does not have. Limits data rather than the address space, of which the C library reserves gigabytes on
 * machines with many cores.
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
 * Runs child processes within limits of the operating system, and ends them with this process even when that is killed: the kernel does so
 * where `setpriv` is available, an {@link OrphanReaper} elsewhere.
 */
export class ProcessLimits {
  /** Variables of all children. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #programs: LimitPrograms;
  readonly #reaper: OrphanReaper | undefined;

  /** @param variables of this process, from which children get a few */
  static async find(variables: EnvironmentVariables, log: Logger): Promise<ProcessLimits> {
    const environment = childEnvironment(variables);
    const shell = (await isExecutable(shellPath)) ? shellPath : undefined;
    const launcher = shell !== undefined && (await isExecutable(launcherPath)) ? launcherPath : undefined;
    let setpriv: string | undefined;
    for (const folder of setprivFolders) {
      setpriv ??= await workingSetpriv(`${folder}/setpriv`, environment, log);
    }
    if (launcher === undefined)
      log.warn('process-limits-missing', { program: shell === undefined ? shellPath : launcherPath });
    return new ProcessLimits({ shell, setpriv, launcher }, environment, log);
  }

  constructor(programs: LimitPrograms, environment: Readonly<Record<string, string>>, log: Logger) {
    this.#programs = programs;
    this.environment = environment;
    const { shell, setpriv } = programs;
    if (setpriv === undefined && shell !== undefined) this.#reaper = new OrphanReaper(shell, log);
  }

  /** Returns the program and arguments that run `path` with `args` within limits. */
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

  /**
   * Returns the program that runs `path` within limits and with the environment of children, and the arguments that precede those of
   * `path`. fluent-ffmpeg takes a program without arguments, and passes the whole environment on.
   */
  launch(
    path: string,
    limits: ChildLimits,
    variables: Readonly<Record<string, string>> = {},
  ): { readonly program: string; readonly prefix: readonly string[]; readonly hasLauncher: boolean } {
    const { launcher } = this.#programs;
    if (launcher === undefined) return { program: path, prefix: [], hasLauncher: false };
    const environment = Object.entries({ ...this.environment, ...variables });
    const [program, words] = this.command(path, [], limits);
    const set = environment.map(([name, value]) => `${name}=${value}`);
    return {
      program: launcher,
      prefix: ['launch', 'env', '-i', ...set, program, ...words],
      hasLauncher: true,
    };
  }

  /** Ends the process `pid` with this one where the kernel does not; `ended` resolves when it is gone. */
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

/** Returns `path` if it has the option that is needed; BusyBox lacks it. */
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
