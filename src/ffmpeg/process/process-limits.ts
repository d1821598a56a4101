import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { messageOf } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { childEnvironment, type EnvironmentVariables } from './child-environment.ts';
import type { ChildAccess, Isolation } from './isolation.ts';
import { OrphanReaper, SandboxReaper } from './orphan-reaper.ts';

export interface ChildLimits {
  readonly memoryBytes: number;
  readonly cpuSeconds: number;
  /** Size of any one file; 0 for a process that writes to pipes only. */
  readonly outputBytes: number;
}

const daySeconds = 24 * 3600;

/** Limits for copying a broadcast. A watchdog ends one that hangs; a day of processor time is weeks of copying. */
export const copyLimits: ChildLimits = {
  memoryBytes: 512 * 1024 ** 2,
  cpuSeconds: daySeconds,
  outputBytes: 0,
};

/** Limits for encoding a broadcast. After a day of all cores another process takes over. */
export function liveEncodeLimits(memoryBytes: number): ChildLimits {
  return { memoryBytes, cpuSeconds: daySeconds * availableParallelism(), outputBytes: 0 };
}

interface CommandOptions {
  readonly limits: ChildLimits;
  readonly access?: ChildAccess | undefined;
  /** 0..19. Applied here in the sandbox, whose processes are out of reach. */
  readonly niceness?: number | undefined;
  /** Receives the description of the sandbox. */
  readonly infoDescriptor: number;
  /** Receives a listener in the sandbox. */
  readonly listenerDescriptor?: number | undefined;
}

interface LimitPrograms {
  readonly shell: string | undefined;
  /** util-linux: the kernel ends the process with its parent. */
  readonly setpriv: string | undefined;
  readonly launcher?: string | undefined;
}

const shellPath = '/bin/sh';
const launcherPath = fileURLToPath(new URL('./launch.sh', import.meta.url));
const setprivFolders = ['/usr/bin', '/bin', '/usr/local/bin'];
const dieWithParent = ['--pdeathsig', 'KILL', '--'];
/** Limits data: the C library reserves gigabytes of address space on machines with many cores. */
const limitScript = [
  'ulimit -c 0 2>/dev/null',
  'ulimit -d "$1" 2>/dev/null',
  'ulimit -t "$2" 2>/dev/null',
  'ulimit -f "$3" 2>/dev/null',
  'shift 3',
  'exec "$@"',
].join('; ');
/** POSIX units of `ulimit -d` and `ulimit -f`. */
const dataUnitBytes = 1024;
const fileUnitBytes = 512;

/** Descriptor of the description of the sandbox in `launch.sh`. */
const launcherInfoDescriptor = 3;

/** Ends children even when this process is killed: by `setpriv`, else by an {@link OrphanReaper}. */
export class ProcessLimits {
  readonly environment: Readonly<Record<string, string>>;
  readonly #programs: LimitPrograms;
  readonly #log: Logger;
  readonly #isolation: Isolation | undefined;
  readonly #reaper: OrphanReaper | undefined;
  readonly #sandboxReaper: SandboxReaper | undefined;

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

  constructor(
    programs: LimitPrograms,
    environment: Readonly<Record<string, string>>,
    log: Logger,
    isolation?: Isolation,
  ) {
    this.#programs = programs;
    this.environment = environment;
    this.#log = log;
    this.#isolation = isolation;
    const { shell, setpriv } = programs;
    if (setpriv === undefined && shell !== undefined) this.#reaper = new OrphanReaper(shell, log);
    if (isolation !== undefined && shell !== undefined)
      this.#sandboxReaper = new SandboxReaper(shell, isolation.name, log);
  }

  /** Returns the same limits in a sandbox. Undefined where children cannot be launched in one. */
  within(isolation: Isolation): ProcessLimits | undefined {
    if (this.#programs.launcher === undefined) return undefined;
    return new ProcessLimits(this.#programs, this.environment, this.#log, isolation);
  }

  get isIsolated(): boolean {
    return this.#isolation !== undefined;
  }

  command(
    path: string,
    args: readonly string[],
    { limits, access = {}, niceness, infoDescriptor, listenerDescriptor }: CommandOptions,
  ): readonly [string, string[]] {
    const { shell, setpriv } = this.#programs;
    const { memoryBytes, cpuSeconds, outputBytes } = limits;
    this.#sandboxReaper?.ensureRunning();
    const numbers = [
      Math.floor(memoryBytes / dataUnitBytes),
      Math.ceil(cpuSeconds),
      Math.floor(outputBytes / fileUnitBytes),
    ];
    const commandLine = [
      ...(setpriv === undefined ? [] : [setpriv, ...dieWithParent]),
      ...(shell === undefined ? [] : [shell, '-c', limitScript, 'limit', ...numbers.map(String)]),
      ...(this.#isolation === undefined
        ? [path]
        : [
            ...(niceness === undefined ? [] : ['nice', '-n', String(niceness)]),
            ...this.#isolation.commandLineOf(path, access, {
              info: infoDescriptor,
              listener: listenerDescriptor,
            }),
          ]),
      ...args,
    ];
    return [commandLine[0]!, commandLine.slice(1)];
  }

  /** Launches for fluent-ffmpeg, which takes a program without arguments and passes the whole environment on. */
  launch(
    path: string,
    limits: ChildLimits,
    access: ChildAccess,
    variables: Readonly<Record<string, string>> = {},
  ): { readonly program: string; readonly prefix: readonly string[]; readonly hasLauncher: boolean } {
    const { launcher } = this.#programs;
    if (launcher === undefined) return { program: path, prefix: [], hasLauncher: false };
    const environment = Object.entries({ ...this.environment, ...variables });
    const infoDescriptor = launcherInfoDescriptor;
    const [program, programArguments] = this.command(path, [], { limits, access, infoDescriptor });
    const set = environment.map(([name, value]) => `${name}=${value}`);
    return {
      program: launcher,
      prefix: [this.isIsolated ? 'isolate' : 'launch', 'env', '-i', ...set, program, ...programArguments],
      hasLauncher: true,
    };
  }

  /** Used if the kernel does not end `pid` with this process. `ended` resolves when it is gone. */
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

/** Undefined for BusyBox, which lacks the needed option. */
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
