import { expect, test } from 'vitest';
import { recordingTitle } from '../../../../../src/resources/live/broadcasts/recording-title.ts';

const startedAtMs = Date.UTC(2026, 10, 9, 4, 5, 59);

test.each([
  ['Harbour', 'Harbour, 9 November 2026, 04:05 UTC'],
  [' ', '9 November 2026, 04:05 UTC'],
])('the title of a recording of %j tells when it began', (name, title) => {
  expect(recordingTitle(name, startedAtMs)).toBe(title);
});

test('a long name leaves room for the date', () => {
  const title = recordingTitle('🎉'.repeat(600), startedAtMs);
  expect(title.length).toBeLessThanOrEqual(1_024);
  expect(title).toMatch(/, 9 November 2026, 04:05 UTC$/);
  expect(title.isWellFormed()).toBe(true);
});
