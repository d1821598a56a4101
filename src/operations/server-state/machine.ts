import { readFile, statfs } from 'node:fs/promises';
import { cpus, freemem, totalmem } from 'node:os';

/** Processor time since some moment, in milliseconds. */
export interface CpuTimes {
  readonly totalMs: number;
  readonly busyMs: number;
  /** Time of this process with all its threads. */
  readonly processMs: number;
}

/** Whole percentages of all cores, 0 to 100. */
interface CpuShares {
  readonly serverPercent: number;
  readonly machinePercent: number;
}

const maxPids = 512;

export function readCpus(): { cores: number; times: CpuTimes } {
  const all = cpus();
  let [totalMs, idleMs] = [0, 0];
  for (const { times } of all) {
    totalMs += times.user + times.nice + times.sys + times.idle + times.irq;
    idleMs += times.idle;
  }
  const { user, system } = process.cpuUsage();
  return {
    cores: Math.max(1, all.length),
    times: { totalMs, busyMs: totalMs - idleMs, processMs: (user + system) / 1000 },
  };
}

export function sharesBetween(before: CpuTimes, after: CpuTimes): CpuShares {
  const totalMs = after.totalMs - before.totalMs;
  const shareOf = (ms: number) =>
    totalMs <= 0 ? 0 : Math.round(Math.min(100, Math.max(0, (ms / totalMs) * 100)));
  return {
    serverPercent: shareOf(after.processMs - before.processMs),
    machinePercent: shareOf(after.busyMs - before.busyMs),
  };
}

/** Reads the memory. On Linux, the free part includes caches that can be reclaimed (`MemAvailable`). */
export function readMemory(): { serverBytes: number; machineTotalBytes: number; machineFreeBytes: number } {
  return {
    serverBytes: process.memoryUsage.rss(),
    machineTotalBytes: totalmem(),
    machineFreeBytes: freemem(),
  };
}

/**
 * Sums the memory of processes with their children, as those in a sandbox. Undefined on systems that do not tell.
 * **Source**: proc_pid_status(5), VmRSS; proc_tid_children(5)
 */
export async function residentBytesOf(pids: readonly number[]): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  let bytes = 0;
  const measured = pids.slice(0, maxPids);
  for (const pid of measured) {
    // The process may have just ended.
    const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
    bytes += Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => '');
    const found = children
      .split(' ')
      .filter(word => word !== '')
      .map(Number);
    measured.push(...found.slice(0, maxPids - measured.length));
  }
  return bytes;
}

export async function readDisk(folder: string): Promise<{ totalBytes: number; freeBytes: number }> {
  const { blocks, bavail, bsize } = await statfs(folder);
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
}
