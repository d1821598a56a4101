import { readdirSync, readFileSync } from 'node:fs';

/** Processes are looked up in /proc, which only Linux has. */
export const hasProc = process.platform === 'linux';

/** Ids of the processes whose parent is `pid`. */
export function childrenOf(pid: number): number[] {
  const parentOf = (entry: string) => {
    try {
      // `pid (name) state ppid ...`; the name may hold anything.
      return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${entry}/stat`, 'utf8'))?.[1]);
    } catch {
      return undefined;
    }
  };
  return readdirSync('/proc')
    .filter(entry => /^\d+$/.test(entry) && parentOf(entry) === pid)
    .map(Number);
}

/** Tells whether a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

/** A child process as the kernel knows it. */
export interface ProcessInfo {
  readonly pid: number;
  readonly args: readonly string[];
  /** Names of its environment variables. */
  readonly variables: readonly string[];
  /** Soft limits by the kernel's names, such as `Max data size`. */
  readonly limits: Readonly<Record<string, string>>;
}

/** Looks at a process; undefined when it is gone, or another program still sets its limits. */
export function inspectProcess(pid: number, program: RegExp): ProcessInfo | undefined {
  const read = (name: string) => readFileSync(`/proc/${pid}/${name}`, 'utf8');
  try {
    if (!program.test(read('comm').trim())) return undefined;
    const limits: Record<string, string> = {};
    for (const line of read('limits').split('\n').slice(1)) {
      const found = /^(.+?)\s{2,}(\S+)/.exec(line);
      if (found !== null) limits[found[1]!] = found[2]!;
    }
    const list = (name: string) =>
      read(name)
        .split('\0')
        .filter(text => text !== '');
    return {
      pid,
      args: list('cmdline'),
      variables: list('environ').map(text => text.slice(0, text.indexOf('='))),
      limits,
    };
  } catch {
    return undefined;
  }
}
