import { readdirSync, readFileSync } from 'node:fs';

/** Processes are looked up in /proc, which only Linux has. */
export const hasProc = process.platform === 'linux';

/** Ids of the processes that `pid` has started, and of those that they have. In a sandbox, ffmpeg is a great-grandchild. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      // `pid (name) state ppid ...`; the name may hold anything.
      const parent = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${entry}/stat`, 'utf8'))?.[1]);
      parents.set(Number(entry), parent);
    } catch {
      // The process ended meanwhile.
    }
  }
  const found = new Set([pid]);
  for (const ancestor of found)
    for (const [child, parent] of parents) if (parent === ancestor) found.add(child);
  return [...found].slice(1);
}

/** The words of all processes that run. */
export function commandLines(): string[][] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .flatMap(entry => {
      try {
        return [readFileSync(`/proc/${entry}/cmdline`, 'utf8').split('\0')];
      } catch {
        return [];
      }
    });
}

/** The ffmpeg processes that `pid` has started, in sandboxes or not. */
export function ffmpegsOf(pid: number): ProcessInfo[] {
  return descendantsOf(pid).flatMap(child => inspectProcess(child, /^ff(mpeg|probe)/) ?? []);
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
