import type { ServerState } from '../api/api-types.ts';
import { t } from '../texts/shell.ts';
import { formatBytes, formatNumber, formatPercent } from './size.ts';

/** The parts of the state that warnings are about. */
export type WarnedState = Pick<ServerState, 'warnings' | 'cpu' | 'memory' | 'disk' | 'queue'>;

/** Says a warning in the language of the dashboard. Undefined for those that have only a text of the server, in English. */
export function formatServerWarning(
  code: ServerState['warnings'][number]['code'],
  { cpu, memory, disk, queue }: WarnedState,
): string | undefined {
  const space = { free: formatBytes(disk.freeBytes), min: formatBytes(disk.minFreeBytes) };
  switch (code) {
    case 'disk-full':
      return t('warning.diskFull', space);
    case 'disk-nearly-full':
      return t('warning.diskNearlyFull', space);
    case 'memory-low':
      return t('warning.memoryLow', {
        free: formatBytes(memory.machineFreeBytes),
        total: formatBytes(memory.machineTotalBytes),
      });
    case 'cpu-busy':
      return t('warning.cpuBusy', { percent: formatPercent(cpu.machinePercent) });
    case 'encoding-paused':
      return t('warning.encodingPaused');
    case 'queue-long':
      return t('warning.queueLong', { jobs: formatNumber(queue.waiting) });
    default:
      return undefined;
  }
}
