import { formatDateTime, formatRelative } from '../format/time.ts';

export function RelativeTime({ time }: { time: string }) {
  return (
    <time dateTime={time} title={formatDateTime(time)}>
      {formatRelative(time)}
    </time>
  );
}
