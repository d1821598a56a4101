import type { ServerState } from '../../api/api-types.ts';
import { locale } from '../../state/texts.ts';
import { t } from '../../texts/server.ts';

export function formatQueue({ running, waiting, failedToday, isPaused }: ServerState['queue']): string {
  const parts = [
    ...(running > 0 ? [t('queue.running', { count: running })] : []),
    ...(waiting > 0 ? [t('queue.waiting', { count: waiting })] : []),
    ...(running + waiting === 0 ? [t('queue.idle')] : []),
    ...(isPaused ? [t('queue.paused')] : []),
  ];
  const now = new Intl.ListFormat(locale(), { type: 'unit' }).format(parts);
  return failedToday > 0 ? t('queue.withFailed', { now, count: failedToday }) : now;
}
