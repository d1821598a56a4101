import { formatBytes } from '../../shared/text/format-bytes.ts';
import type { ServerStateView } from './server-state.schema.ts';

type ServerWarning = ServerStateView['warnings'][number];

type ServerMeasurements = Pick<ServerStateView, 'cpu' | 'memory' | 'disk' | 'queue' | 'programs'> & {
  readonly recordingLagSeconds?: number;
  readonly certificateProblem?: string | undefined;
};

const lowDiskFactor = 3;
const lowDiskShare = 0.05;
const lowMemoryShare = 0.08;
const busyCpuPercent = 90;
const longQueueJobs = 50;
const maxRecordingLagSeconds = 10;

export function findWarnings({
  cpu,
  memory,
  disk,
  queue,
  programs,
  recordingLagSeconds = 0,
  certificateProblem,
}: ServerMeasurements): ServerWarning[] {
  const warnings: ServerWarning[] = [];
  const warn = (code: ServerWarning['code'], text: string) => void warnings.push({ code, text });
  const free = freeText(disk.freeBytes);
  if (disk.freeBytes < disk.minFreeBytes) {
    warn('disk-full', `Uploads are refused: ${describeFullDisk(disk)}`);
  } else if (
    disk.freeBytes < disk.minFreeBytes * lowDiskFactor ||
    disk.freeBytes < disk.totalBytes * lowDiskShare
  ) {
    const floor = formatBytes(disk.minFreeBytes);
    warn('disk-nearly-full', `The disk is nearly full: ${free}. Below ${floor}, uploads are refused.`);
  }
  if (memory.machineFreeBytes < memory.machineTotalBytes * lowMemoryShare) {
    const left = `${formatBytes(memory.machineFreeBytes)} of ${formatBytes(memory.machineTotalBytes)} is free`;
    warn('memory-low', `The machine is running out of memory: ${left}. Stop other programs or add memory.`);
  }
  if (cpu.machinePercent >= busyCpuPercent) {
    const taken = `${Math.round(cpu.machinePercent)}% of its ${cpu.cores} cores are in use`;
    warn('cpu-busy', `The machine is busy: ${taken}. Live streams come first, so videos take longer.`);
  }
  if (queue.isPaused) {
    warn('encoding-paused', 'Video encoding is paused while live streams need the processor.');
  }
  if (queue.waiting >= longQueueJobs) {
    warn('queue-long', `${queue.waiting} jobs are waiting. New videos take longer than usual.`);
  }
  if (recordingLagSeconds > maxRecordingLagSeconds) {
    const lag = `${Math.round(recordingLagSeconds)} s of a recording`;
    warn(
      'recording-upload-behind',
      `The object storage is too slow: ${lag} are not stored yet, and would be missing if this server were lost now.`,
    );
  }
  if (certificateProblem !== undefined) warn('certificate-failed', certificateProblem);
  for (const { name, version, lacks } of programs) {
    if (lacks === undefined || lacks.length === 0) continue;
    warn(
      'program-lacks',
      `${name} ${version} does not support ${lacks.join('; ')}. Install a newer version.`,
    );
  }
  return warnings;
}

export function describeFullDisk({
  freeBytes,
  minFreeBytes,
}: Pick<ServerMeasurements['disk'], 'freeBytes' | 'minFreeBytes'>): string {
  return `${freeText(freeBytes)}, and ${formatBytes(minFreeBytes)} must stay free. Delete videos or free up space.`;
}

function freeText(bytes: number): string {
  return `${formatBytes(bytes)} of disk space is free`;
}
