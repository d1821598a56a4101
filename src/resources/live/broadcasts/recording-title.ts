import { maxTitleChars } from '../../../shared/limits/resource-limits.ts';

const day = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});
const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });

/** Tells the recordings of a live stream apart: `Harbour, 29 November 2026, 14:05 UTC`. */
export function recordingTitle(streamName: string, startedAtMs: number): string {
  const started = `${day.format(startedAtMs)}, ${time.format(startedAtMs)} UTC`;
  const name = streamName.trim();
  if (name === '') return started;
  return `${name.slice(0, maxTitleChars - started.length - 2).toWellFormed()}, ${started}`;
}
