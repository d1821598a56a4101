/** The planned start of a live stream. */
export interface PlannedStart {
  readonly liveStreamId: string;
  readonly title: string;
  /** Address of its page. */
  readonly url: string;
  readonly startsAtMs: number;
  readonly nowMs: number;
}

const maxLineBytes = 75;

/**
 * Writes a calendar with one event of an hour: nobody says how long a broadcast will take. The stream's id names the event, so
 * that calendars move it when it is added again with another start.
 *
 * **Source**: RFC 5545
 */
export function calendarEvent({ liveStreamId, title, url, startsAtMs, nowMs }: PlannedStart): string {
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Millrace//Millrace//EN',
    'BEGIN:VEVENT',
    `UID:${liveStreamId}@${new URL(url).hostname}`,
    `DTSTAMP:${utcTime(nowMs)}`,
    `DTSTART:${utcTime(startsAtMs)}`,
    'DURATION:PT1H',
    `SUMMARY:${escapeText(title)}`,
    `DESCRIPTION:${escapeText(url)}`,
    `URL:${url}`,
    'END:VEVENT',
    'END:VCALENDAR',
  ];
  return lines.map(line => `${fold(line)}\r\n`).join('');
}

/** **Source**: RFC 5545, 3.3.5, form #2 */
function utcTime(ms: number): string {
  return new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '');
}

/** **Source**: RFC 5545, 3.3.11 */
function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(/[\\;,]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replace(/\p{Cc}/gu, '');
}

/** Continues lines that are too long, between characters. **Source**: RFC 5545, 3.1 */
function fold(line: string): string {
  let folded = '';
  let bytes = 0;
  for (const character of line) {
    const length = Buffer.byteLength(character);
    if (bytes + length > maxLineBytes) {
      folded += '\r\n ';
      bytes = 1;
    }
    folded += character;
    bytes += length;
  }
  return folded;
}
