import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/logger.ts';
import type { RunLimits } from './media-tools.ts';

const folders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin'];

/**
 * Puts limits of the operating system on a process that reads foreign files, by two programs of util-linux that set them and then
 * become it: `prlimit`, and `setpriv`, so that the process ends with this one even when that is killed. Where they are
 * missing, what is left is the watch on the wall clock.
 */
export class ProcessLimits {
  readonly #log: Logger;
  #programs:
    | Promise<{ readonly setpriv: string | undefined; readonly prlimit: string | undefined }>
    | undefined;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The command that runs `path` with `args` within limits: the program to start, and its arguments. */
  async command(
    path: string,
    args: readonly string[],
    limits: RunLimits,
  ): Promise<readonly [string, string[]]> {
    this.#programs ??= this.#findPrograms();
    const { setpriv, prlimit } = await this.#programs;
    const words = [
      ...(setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--']),
      ...(prlimit === undefined ? [] : [prlimit, ...limitOptions(limits), '--']),
      path,
      ...args,
    ];
    return [words[0]!, words.slice(1)];
  }

  async #findPrograms() {
    const [setpriv, prlimit] = await Promise.all([
      this.#find('setpriv', ['--pdeathsig', 'KILL', '--']),
      this.#find('prlimit', ['--core=0:0', '--']),
    ]);
    return { setpriv, prlimit };
  }

  async #find(name: string, args: readonly string[]): Promise<string | undefined> {
    for (const folder of folders) {
      const path = `${folder}/${name}`;
      try {
        await access(path, constants.X_OK);
      } catch {
        continue;
      }
      try {
        // Other makers' programs of that name lack these options.
        await promisify(execFile)(path, [...args, process.execPath, '--version'], { timeout: 10_000 });
        return path;
      } catch (error) {
        this.#log.debug('limiting-program-unusable', { path, error: messageOf(error) });
      }
    }
    this.#log.warn('limiting-program-missing', { program: name, package: 'util-linux' });
    return undefined;
  }
}

function limitOptions(limits: RunLimits): string[] {
  // Of all cores together, for a process that the watch on the wall clock somehow misses.
  const cpuSeconds = Math.ceil(limits.timeoutMs / 1000) * availableParallelism();
  const { memoryBytes, outputBytes } = limits;
  return [
    // Not of the address space: on a machine of many cores the C library reserves gigabytes that it never uses.
    `--data=${memoryBytes}:${memoryBytes}`,
    `--fsize=${outputBytes}:${outputBytes}`,
    `--cpu=${cpuSeconds}:${cpuSeconds}`,
    '--core=0:0',
  ];
}
