import { expect, test } from 'vitest';
import { calendarEvent } from '../../../../src/delivery/live/calendar-event.ts';

const start = {
  liveStreamId: 'li5Ds8GhJk1Qw3ErTy6UiOpA',
  title: 'Pier cam',
  url: 'https://video.example.org/media/live/li5Ds8GhJk1Qw3ErTy6UiOpA',
  startsAtMs: Date.UTC(2030, 2, 4, 19, 30),
  nowMs: Date.UTC(2030, 1, 1, 8, 5, 9, 250),
};

/** Joins what was folded. */
const linesOf = (text: string) => text.replaceAll('\r\n ', '').split('\r\n');

test('names the stream, its page and its start in UTC', () => {
  expect(linesOf(calendarEvent(start))).toEqual([
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Millrace//Millrace//EN',
    'BEGIN:VEVENT',
    'UID:li5Ds8GhJk1Qw3ErTy6UiOpA@video.example.org',
    'DTSTAMP:20300201T080509Z',
    'DTSTART:20300304T193000Z',
    'DURATION:PT1H',
    'SUMMARY:Pier cam',
    `DESCRIPTION:${start.url}`,
    `URL:${start.url}`,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ]);
});

test('escapes what would end a text or begin another property', () => {
  const title = 'a\\b; c, d\r\nATTENDEE:mailto:x@example.org\u0000\u007f\ud800\u2028URL:x';
  expect(linesOf(calendarEvent({ ...start, title }))).toContain(
    'SUMMARY:a\\\\b\\; c\\, d\\nATTENDEE:mailto:x@example.org\ufffd\\nURL:x',
  );
});

test('folds lines at 75 bytes, between characters', () => {
  const title = '🎻港'.repeat(60);
  const text = calendarEvent({ ...start, title });
  for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
  expect(text).not.toContain('\ufffd');
  expect(linesOf(text)).toContain(`SUMMARY:${title}`);
});
