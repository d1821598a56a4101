import type { ServerState } from '../../api/api-types.ts';

export function formatQueue({ running, waiting, failedToday, isPaused }: ServerState['queue']): string {
  const parts = [
    ...(running > 0 ? [`${running} running`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
  ];
  const now = parts.length === 0 ? 'Idle' : parts.join(', ');
  const paused = isPaused ? ', paused while live streams need the CPU' : '';
  return `${now}${paused}${failedToday > 0 ? `; ${failedToday} failed today` : ''}`;
}
