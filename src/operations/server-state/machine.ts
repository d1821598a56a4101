import { readFile, statfs } from 'node:fs/promises';
import { cpus, freemem, totalmem } from 'node:os';

/** Times that processors have spent, in milliseconds, since some start. */
export interface CpuTimes {
  /** Of all cores together, idle or not. */
  readonly totalMs: number;
  readonly busyMs: number;
  /** Of this process, over all its threads. */
  readonly processMs: number;
}

/** Shares of all cores, whole numbers 0..100. */
export interface CpuShares {
  readonly serverPercent: number;
  readonly machinePercent: number;
}

/** Processes whose memory is looked at. */
const maxPids = 512;

/** How many cores the machine has, and what they have done until now. */
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

/** What was taken of all cores between two readings, 0 where there is nothing to tell it from. */
export function sharesBetween(before: CpuTimes, after: CpuTimes): CpuShares {
  const totalMs = after.totalMs - before.totalMs;
  const shareOf = (ms: number) =>
    totalMs <= 0 ? 0 : Math.round(Math.min(100, Math.max(0, (ms / totalMs) * 100)));
  return {
    serverPercent: shareOf(after.processMs - before.processMs),
    machinePercent: shareOf(after.busyMs - before.busyMs),
  };
}

/** Memory in bytes. On Linux, free is what programs can still get (`MemAvailable`). */
export function readMemory(): { serverBytes: number; machineTotalBytes: number; machineFreeBytes: number } {
  return {
    serverBytes: process.memoryUsage.rss(),
    machineTotalBytes: totalmem(),
    machineFreeBytes: freemem(),
  };
}

/**
 * **Source**: proc_pid_status(5), VmRSS
 *
 * Resident bytes of processes together, of 512 at most; undefined on systems that do not tell.
 */
export async function residentBytesOf(pids: readonly number[]): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  let bytes = 0;
  for (const pid of pids.slice(0, maxPids)) {
    // It may have ended just now.
    const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
    bytes += Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  }
  return bytes;
}

/** Size and room of the disk that a folder is on, in bytes. */
export async function readDisk(folder: string): Promise<{ totalBytes: number; freeBytes: number }> {
  const { blocks, bavail, bsize } = await statfs(folder);
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize };
}
