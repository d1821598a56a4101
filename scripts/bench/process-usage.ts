import { readdirSync, readFileSync } from 'node:fs';

/** Processor time and memory of some processes at one moment. */
export interface Usage {
  /** Processor time since each process's start. */
  readonly cpuSeconds: number;
  /** Memory, with what processes share divided among them ("PSS"). */
  readonly pssBytes: number;
}

/** The kernel counts processor time in hundredths of a second on every Linux that Node runs on. */
const ticksPerSecond = 100;
const kibibyte = 1024;

/** `rootPid` and all its descendants that run now. */
export function processTree(rootPid: number): number[] {
  const childrenOf = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid)) continue;
    const parent = readStat(pid)?.parentPid;
    if (parent !== undefined) childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), pid]);
  }
  const tree: number[] = [];
  const walk = (pid: number) => {
    tree.push(pid);
    for (const child of childrenOf.get(pid) ?? []) walk(child);
  };
  walk(rootPid);
  return tree;
}

/** Sums up `pids`; one that has gone meanwhile counts nothing. */
export function usageOf(pids: readonly number[]): Usage {
  const sum = { cpuSeconds: 0, pssBytes: 0 };
  for (const pid of pids) {
    const stat = readStat(pid);
    const pssBytes = readPssBytes(pid);
    if (stat === undefined || pssBytes === undefined) continue;
    sum.cpuSeconds += stat.cpuSeconds;
    sum.pssBytes += pssBytes;
  }
  return sum;
}

/** Processor time of everything on this machine since it was started, waiting left out. */
export function machineCpuSeconds(): number {
  const fields = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]!
    .trim()
    .split(/\s+/)
    .slice(1, 9)
    .map(Number);
  const [user, nice, system, , , interrupts, softInterrupts, stolen] = fields as number[];
  return (user! + nice! + system! + interrupts! + softInterrupts! + stolen!) / ticksPerSecond;
}

/** Processor time of `rootPid`, its descendants, and those of them that have ended and were waited for. */
export function treeCpuSeconds(rootPid: number): number {
  return processTree(rootPid).reduce((sum, pid) => {
    const stat = readStat(pid);
    return sum + (stat === undefined ? 0 : stat.cpuSeconds + stat.endedChildrenCpuSeconds);
  }, 0);
}

/** Processor time of the children of a process that have ended and were waited for. */
export function endedChildrenCpuSeconds(pid: number): number {
  return readStat(pid)?.endedChildrenCpuSeconds ?? 0;
}

/** Bytes of file pages that processes made dirty, which the disk has to write. Nothing on a file system in memory. */
export function writtenBytes(pids: readonly number[]): number {
  return pids.reduce(
    (sum, pid) => sum + Number(/^write_bytes: (\d+)$/m.exec(readProc(`/proc/${pid}/io`) ?? '')?.[1] ?? 0),
    0,
  );
}

/** Number of open files, sockets and pipes. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

function readStat(
  pid: number,
): { parentPid: number; cpuSeconds: number; endedChildrenCpuSeconds: number } | undefined {
  const text = readProc(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The name of the program stands in brackets and may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    parentPid: Number(fields[1]),
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) / ticksPerSecond,
    endedChildrenCpuSeconds: (Number(fields[13]) + Number(fields[14])) / ticksPerSecond,
  };
}

function readPssBytes(pid: number): number | undefined {
  const text = readProc(`/proc/${pid}/smaps_rollup`);
  return text === undefined ? undefined : Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0) * kibibyte;
}

function readProc(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
