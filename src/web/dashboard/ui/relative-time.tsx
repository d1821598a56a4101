import { formatDateTime, formatRelative } from '../format/time.ts';

export function RelativeTime({ time }: { time: string }) {
  return (
    <time dateTime={time} title={formatDateTime(time)}>
      {formatRelative(time)}
    </time>
  );
}

/** The tag `<time></time>` of texts. */
export function relativeTime(time: string) {
  return { time: () => <RelativeTime time={time} /> };
}
