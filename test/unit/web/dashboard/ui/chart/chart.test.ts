import { describe, expect, it } from 'vitest';
import {
  formatBitrate,
  formatNumber,
  formatPercent,
} from '../../../../../../src/web/dashboard/format/size.ts';
import { formatSpan } from '../../../../../../src/web/dashboard/format/time.ts';
import {
  momentText,
  spanSteps,
  timeLabels,
  valueTicks,
  wholeSteps,
} from '../../../../../../src/web/dashboard/ui/chart/chart-axes.ts';
import { describeSeries, sampleRows } from '../../../../../../src/web/dashboard/ui/chart/chart-values.ts';

const formats = [
  ['numbers', (value: number) => formatNumber(value), wholeSteps],
  ['tenths', (value: number) => formatNumber(value, 1), undefined],
  ['bitrates', formatBitrate, undefined],
  ['percents', (value: number) => formatPercent(value), undefined],
  ['spans', formatSpan, spanSteps],
  ['rounded numbers', (value: number) => formatNumber(value), undefined],
] as const;

describe('the scale of values', () => {
  it.each(formats)(
    'of %s has no words twice, and never more lines than there is room for',
    (_, format, steps) => {
      for (const max of [1e-6, 0.4, 1, 1.1, 2, 3.3, 7, 10, 33, 99, 1_049, 2.2e6, 1.05e8, 3e12]) {
        for (const min of [0, -max / 3, -max]) {
          for (const maxCount of [2, 4, 7]) {
            const ticks = valueTicks([min, max], format, maxCount, steps);
            const words = ticks.map(format);
            expect(new Set(words).size).toBe(words.length);
            expect(ticks.length).toBeLessThanOrEqual(Math.max(2, maxCount));
            expect(ticks.every(tick => tick >= min && tick <= max)).toBe(true);
          }
        }
      }
    },
  );

  it('has round lines', () => {
    expect(valueTicks([0, 4.4], formatNumber, 6, wholeSteps)).toEqual([0, 1, 2, 3, 4]);
    expect(valueTicks([0, 1.1], formatNumber, 6)).toEqual([0, 1]);
    expect(valueTicks([0, 33], formatNumber, 5, wholeSteps)).toEqual([0, 10, 20, 30]);
    expect(valueTicks([-110, 110], formatNumber, 5)).toEqual([-100, -50, 0, 50, 100]);
    expect(valueTicks([0, 2_750_000], formatBitrate, 4).map(formatBitrate)).toEqual([
      ...['0 bit/s', '1 Mbit/s', '2 Mbit/s'],
    ]);
    expect(valueTicks([0, 13_000], formatSpan, 5, spanSteps).map(formatSpan)).toEqual([
      ...['0 s', '1 h', '2 h', '3 h'],
    ]);
  });
});

describe('words at a time axis', () => {
  const hour = 3_600;
  const midnight = new Date(2026, 2, 14).getTime() / 1000;
  const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });

  it('are days of UTC, or times with a day where it begins', () => {
    const labels = timeLabels([midnight, midnight + hour], hour, 'local');
    expect(labels[0]).toBe(day.format(new Date(midnight * 1000)));
    expect(labels[1]).not.toBe(labels[0]);
    const utcMidnight = Date.UTC(2026, 2, 14) / 1000;
    expect(timeLabels([utcMidnight], 24 * hour, 'days')[0]).toMatch(/14/);
    expect(timeLabels([utcMidnight], hour, 'utc')[0]).toMatch(/14/);
  });

  it('tell seconds where marks are closer than a minute', () => {
    const times = Array.from({ length: 6 }, (_, index) => midnight + hour + index * 30);
    expect(new Set(timeLabels(times, 30, 'local')).size).toBe(6);
  });

  it.each([6, 12])('are never the same twice where marks are %d h apart for days', hours => {
    const times = Array.from({ length: 8 }, (_, index) => midnight + index * hours * hour);
    expect(new Set(timeLabels(times, hours * hour, 'local')).size).toBe(8);
  });
});

describe('a moment of a chart', () => {
  const at = Date.UTC(2026, 2, 14, 15, 20, 30) / 1000;

  it.each([
    [300, 'utc', /20:30/, /2026/],
    [7_200, 'utc', /20/, /30|2026/],
    [86_400, 'utc', /2026.*20/, /30/],
    [30 * 86_400, 'days', /14.*2026|2026.*14/, /20:|30/],
  ] as const)('over %d s by the clock %s has the words %s', (spanSeconds, clock, words, others) => {
    const text = momentText(at, spanSeconds, clock);
    expect(text).toMatch(words);
    expect(text).not.toMatch(others);
  });

  it('is told by the clock of the viewer', () => {
    const local = new Intl.DateTimeFormat(undefined, {
      hour: 'numeric',
      minute: '2-digit',
      second: '2-digit',
    });
    expect(momentText(at, 300, 'local')).toBe(local.format(new Date(at * 1000)));
  });
});

describe('a chart in words', () => {
  it('has a table of points from all of its time', () => {
    expect(sampleRows(3, 30)).toEqual([0, 1, 2]);
    expect(sampleRows(300, 30)).toHaveLength(30);
    expect([sampleRows(300, 30)[0], sampleRows(300, 30).at(-1)]).toEqual([9, 299]);
    expect(sampleRows(0, 30)).toEqual([]);
  });

  it('has a summary of each line', () => {
    expect(describeSeries({ name: 'Viewers', values: [null, 3, 9, 4] }, formatNumber)).toBe(
      'Viewers: lowest 3, highest 9, newest 4',
    );
    expect(describeSeries({ name: 'Viewers', values: [null] }, formatNumber)).toBe('Viewers: no values yet');
  });
});
