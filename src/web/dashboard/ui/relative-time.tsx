import { formatDateTime, formatRelative } from '../format/time.ts';

/** A moment as how long ago or how soon it is; its date is the tip. @param time ATOM text */
export function RelativeTime({ time }: { time: string }) {
  return (
    <time dateTime={time} title={formatDateTime(time)}>
      {formatRelative(time)}
    </time>
  );
}
