export function formatTime(seconds: number): string {
  const whole = wholeSeconds(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = String(whole % 60).padStart(2, '0');
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${rest}` : `${minutes}:${rest}`;
}

/** Formats `m:ss` with the milliseconds that are not zero, as {@link parseTime} reads it. */
export function formatTimecode(seconds: number): string {
  const ms = Math.round(seconds * 1000);
  const clock = formatTime(Math.floor(ms / 1000));
  const fraction = String(ms % 1000)
    .padStart(3, '0')
    .replace(/0+$/, '');
  return fraction === '' ? clock : `${clock}.${fraction}`;
}

export function formatClockTime(date: Date, locale: string): string {
  return date.toLocaleTimeString(locale, { hour: 'numeric', minute: '2-digit', second: '2-digit' });
}

// Segment durations add up to some microseconds less than whole seconds.
function wholeSeconds(seconds: number): number {
  return Number.isFinite(seconds) ? Math.max(0, Math.floor(seconds + 0.01)) : 0;
}

/** Parses `ss`, `mm:ss` or `hh:mm:ss` with decimals to seconds. */
export function parseTime(text: string): number | undefined {
  const found = /^(?:(?:(\d{1,3}):)?(\d{1,3}):)?(\d{1,7}(?:\.\d{1,6})?)$/.exec(text.trim());
  if (found === null) return undefined;
  const [, hours = '0', minutes = '0', seconds = '0'] = found;
  return Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
}
