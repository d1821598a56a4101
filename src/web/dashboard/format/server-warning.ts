import type { ServerState } from '../api/api-types.ts';
import { t } from '../texts/shell.ts';
import { listText } from './list-text.ts';
import { formatBytes, formatNumber, formatPercent } from './size.ts';
import { formatDateTime } from './time.ts';

/** The parts of the state that warnings are about. */
export type WarnedState = Pick<
  ServerState,
  'warnings' | 'cpu' | 'memory' | 'disk' | 'queue' | 'live' | 'programs' | 'certificate'
>;

/** Says a warning in the language of the dashboard. Undefined for one that only a newer server knows. */
export function formatServerWarning(
  code: ServerState['warnings'][number]['code'],
  { cpu, memory, disk, queue, live, programs, certificate }: WarnedState,
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
    case 'recording-upload-behind':
      return t('warning.recordingBehind', { count: live.recordingLagSeconds });
    case 'certificate-failed':
      return certificate && certificateText(certificate);
    case 'program-lacks':
      return programText(programs);
    default:
      return undefined;
  }
}

/** Only an old ffmpeg lacks features. */
function programText(programs: ServerState['programs']): string | undefined {
  const program = programs.find(({ lacks = [] }) => lacks.length > 0);
  return program && t('warning.programOld', { program: `${program.name} ${program.version}` });
}

/** The reason comes from the certificate authority, in English. */
function certificateText({
  domains,
  state,
  expiresAt,
  failure,
}: NonNullable<ServerState['certificate']>): string | undefined {
  if (failure === undefined) return undefined;
  const { uncoveredDomains, reason, retryAt } = failure;
  const names = listText(domains);
  const time = expiresAt === undefined ? '' : formatDateTime(expiresAt);
  return [
    state === 'missing'
      ? t('warning.certificateMissing', { domains: names })
      : state === 'expired'
        ? t('warning.certificateExpired', { domains: names, time })
        : t('warning.certificateNotRenewed', { domains: names, time }),
    ...(state === 'valid' && uncoveredDomains.length > 0
      ? [t('warning.certificateUncovered', { domains: listText(uncoveredDomains) })]
      : []),
    t('warning.certificateRetry', { time: formatDateTime(retryAt), reason: `\u2068${reason}\u2069` }),
  ].join(' ');
}
