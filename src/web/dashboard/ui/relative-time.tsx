import { formatDateTime, formatRelative } from '../format/time.ts';

/** @param time ATOM text */
export function RelativeTime({ time }: { time: string }) {
  return (
    <time dateTime={time} title={formatDateTime(time)}>
      {formatRelative(time)}
    </time>
  );
}
