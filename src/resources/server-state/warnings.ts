import type { ServerStateView } from './server-state.schema.ts';

type ServerWarning = ServerStateView['warnings'][number];

/** What warnings are told from. */
export type ServerFacts = Pick<ServerStateView, 'cpu' | 'memory' | 'disk' | 'queue' | 'programs'>;

const fewTimesMinFree = 3;
const smallPartOfDisk = 0.05;
const smallPartOfMemory = 0.08;
const busyPercent = 90;
const manyJobs = 50;

/** What somebody should look at, the most urgent first. */
export function warningsOf({ cpu, memory, disk, queue, programs }: ServerFacts): ServerWarning[] {
  const warnings: ServerWarning[] = [];
  const warn = (code: ServerWarning['code'], text: string) => void warnings.push({ code, text });
  const free = `${sizeOf(disk.freeBytes)} of the disk are free`;
  if (disk.freeBytes < disk.minFreeBytes) {
    const floor = `${sizeOf(disk.minFreeBytes)} must stay free`;
    warn('disk-full', `Uploads are refused: ${free}, and ${floor}. Delete videos or make room.`);
  } else if (
    disk.freeBytes < disk.minFreeBytes * fewTimesMinFree ||
    disk.freeBytes < disk.totalBytes * smallPartOfDisk
  ) {
    const floor = sizeOf(disk.minFreeBytes);
    warn('disk-nearly-full', `The disk is nearly full: ${free}. Below ${floor}, uploads are refused.`);
  }
  if (memory.machineFreeBytes < memory.machineTotalBytes * smallPartOfMemory) {
    const left = `${sizeOf(memory.machineFreeBytes)} of ${sizeOf(memory.machineTotalBytes)} are left`;
    warn('memory-low', `The machine runs out of memory: ${left}.`);
  }
  if (cpu.machinePercent >= busyPercent) {
    const taken = `${Math.round(cpu.machinePercent)}% of its ${cpu.cores} cores are in use`;
    warn('cpu-busy', `The machine is busy: ${taken}. Live streams come first; videos take longer.`);
  }
  if (queue.isPaused) {
    warn('encoding-paused', 'Encoding of videos stands still while live streams need the processor.');
  }
  if (queue.waiting >= manyJobs) {
    warn('queue-long', `${queue.waiting} jobs wait for their turn: new videos take longer than usual.`);
  }
  for (const { name, version, lacks } of programs) {
    if (lacks === undefined || lacks.length === 0) continue;
    warn('program-lacks', `${name} ${version} lacks ${lacks.join('; ')}. Install a newer version.`);
  }
  return warnings;
}

/** Bytes for a person, in GB or MB of a thousand thousand. */
function sizeOf(bytes: number): string {
  const [unit, size] = bytes >= 1e9 ? ['GB', bytes / 1e9] : ['MB', bytes / 1e6];
  return `${Number(size.toFixed(size < 10 ? 1 : 0))} ${unit}`;
}
