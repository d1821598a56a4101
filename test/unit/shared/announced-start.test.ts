import { expect, it } from 'vitest';
import { announcedStart } from '../../../src/shared/announced-start.ts';

const startsAtMs = 100 * 3_600_000;
const minute = 60_000;

it.each([
  ['days before', undefined, -5_000 * minute, true],
  ['at its time', undefined, 0, true],
  ['while it is late', undefined, 59 * minute, true],
  ['no longer when it is an hour late', undefined, 61 * minute, false],
  ['after a test', -40 * minute, -20 * minute, true],
  ['after a test that went before, when its time has come', -40 * minute, minute, true],
  ['no longer after it has begun early', -20 * minute, minute, false],
  ['no longer after it has begun', 5 * minute, 10 * minute, false],
])('a planned start is announced %s', (_, lastStarted, now, isAnnounced) => {
  const lastStartedAtMs = lastStarted === undefined ? undefined : startsAtMs + lastStarted;
  const found = announcedStart({ startsAtMs, lastStartedAtMs }, startsAtMs + now);
  expect(found).toBe(isAnnounced ? startsAtMs : undefined);
});

it('nothing is announced without a planned start', () => {
  expect(announcedStart({ startsAtMs: undefined, lastStartedAtMs: 5 }, 10)).toBeUndefined();
});
