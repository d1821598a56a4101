import type { ServerStateView } from './server-state.schema.ts';

type ServerWarning = ServerStateView['warnings'][number];

/** What warnings are told from. */
export type ServerMeasurements = Pick<ServerStateView, 'cpu' | 'memory' | 'disk' | 'queue' | 'programs'>;

const lowDiskFactor = 3;
const lowDiskShare = 0.05;
const lowMemoryShare = 0.08;
const busyCpuPercent = 90;
const longQueueJobs = 50;

/** What somebody should look at, the most urgent first. */
export function findWarnings({ cpu, memory, disk, queue, programs }: ServerMeasurements): ServerWarning[] {
  const warnings: ServerWarning[] = [];
  const warn = (code: ServerWarning['code'], text: string) => void warnings.push({ code, text });
  const free = `${formatBytes(disk.freeBytes)} of the disk are free`;
  if (disk.freeBytes < disk.minFreeBytes) {
    const floor = `${formatBytes(disk.minFreeBytes)} must stay free`;
    warn('disk-full', `Uploads are refused: ${free}, and ${floor}. Delete videos or make room.`);
  } else if (
    disk.freeBytes < disk.minFreeBytes * lowDiskFactor ||
    disk.freeBytes < disk.totalBytes * lowDiskShare
  ) {
    const floor = formatBytes(disk.minFreeBytes);
    warn('disk-nearly-full', `The disk is nearly full: ${free}. Below ${floor}, uploads are refused.`);
  }
  if (memory.machineFreeBytes < memory.machineTotalBytes * lowMemoryShare) {
    const left = `${formatBytes(memory.machineFreeBytes)} of ${formatBytes(memory.machineTotalBytes)} are left`;
    warn('memory-low', `The machine runs out of memory: ${left}.`);
  }
  if (cpu.machinePercent >= busyCpuPercent) {
    const taken = `${Math.round(cpu.machinePercent)}% of its ${cpu.cores} cores are in use`;
    warn('cpu-busy', `The machine is busy: ${taken}. Live streams come first; videos take longer.`);
  }
  if (queue.isPaused) {
    warn('encoding-paused', 'Encoding of videos stands still while live streams need the processor.');
  }
  if (queue.waiting >= longQueueJobs) {
    warn('queue-long', `${queue.waiting} jobs wait for their turn: new videos take longer than usual.`);
  }
  for (const { name, version, lacks } of programs) {
    if (lacks === undefined || lacks.length === 0) continue;
    warn('program-lacks', `${name} ${version} lacks ${lacks.join('; ')}. Install a newer version.`);
  }
  return warnings;
}

/** Bytes for a person, in GB or MB of a thousand thousand. */
function formatBytes(bytes: number): string {
  const [unit, size] = bytes >= 1e9 ? ['GB', bytes / 1e9] : ['MB', bytes / 1e6];
  return `${Number(size.toFixed(size < 10 ? 1 : 0))} ${unit}`;
}
