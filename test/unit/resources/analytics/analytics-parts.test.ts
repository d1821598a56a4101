import { describe, expect, it } from 'vitest';
import { parseIsoDate } from '../../../../src/http/routing/iso-date.ts';
import { ConcurrentViewers } from '../../../../src/resources/analytics/queries/concurrent-viewers.ts';
import { DeviceParser } from '../../../../src/resources/analytics/reports/device-parser.ts';
import { parseWatchReport } from '../../../../src/resources/analytics/reports/playback-report.ts';
import { intervalsOf, minutesOf, segmentsOf } from '../../../../src/resources/analytics/timeframe.ts';

describe('attendance', () => {
  it('is as many as counting slot by slot says', () => {
    let seed = 7;
    const random = (most: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % most;
    };
    const stays = Array.from({ length: 400 }, () => {
      const begins = random(4_000);
      // Intervals: some are as long as they can be, and at some times nobody is there.
      return { begins, ends: begins + random(random(2) === 0 ? 360 : 9), viewer: random(40) };
    }).sort((a, b) => a.begins - b.begins);
    for (const isUnique of [false, true]) {
      const attendance = new ConcurrentViewers(isUnique);
      for (const { begins, ends, viewer } of stays) attendance.add(begins, ends, viewer);
      const bySlot = Array.from({ length: 4_400 }, (_, slot) => {
        const there = stays.filter(({ begins, ends }) => begins <= slot && slot <= ends);
        return isUnique ? new Set(there.map(({ viewer }) => viewer)).size : there.length;
      });
      expect(attendance.peak).toBe(Math.max(...bySlot));
      expect(attendance.averageOver(4_400)).toBeCloseTo(
        bySlot.reduce((sum, count) => sum + count, 0) / 4_400,
      );
    }
  });
});

describe('timeframes', () => {
  it('are cut into the coarsest counts that fit', () => {
    const at = (text: string) => Date.parse(`2026-03-${text}Z`) / 1000;
    const span = { from: at('01T22:58:00'), to: at('04T01:02:00') };
    expect(segmentsOf(span, [86_400, 3_600, 60])).toEqual([
      { from: span.from, to: at('01T23:00:00'), seconds: 60 },
      { from: at('01T23:00:00'), to: at('02T00:00:00'), seconds: 3_600 },
      { from: at('02T00:00:00'), to: at('04T00:00:00'), seconds: 86_400 },
      { from: at('04T00:00:00'), to: at('04T01:00:00'), seconds: 3_600 },
      { from: at('04T01:00:00'), to: span.to, seconds: 60 },
    ]);
    expect(segmentsOf({ from: 60, to: 60 }, [60])).toEqual([]);
  });

  it('that follow one another share no minute', () => {
    const now = 1_000_000_000_000;
    const [a, b, c] = [now - 600_000, now - 333_333, now - 200_000] as const;
    expect(minutesOf(a, b, now).to).toBe(minutesOf(b, c, now).from);
    expect(minutesOf(b, now, now).to).toBeGreaterThan(now / 1000);
    expect(minutesOf(a, a + 1, now).to - minutesOf(a, a + 1, now).from).toBe(60);
  });

  it('have a point for each interval that they touch', () => {
    expect(intervalsOf({ from: 3_599, to: 7_201 }, 3_600)).toEqual([0, 3_600, 7_200]);
    expect(intervalsOf({ from: 3_600, to: 7_200 }, 3_600)).toEqual([3_600]);
  });

  it.each([
    ['2026-03-04T05:06:07Z', 1_772_600_767_000],
    ['2026-03-04T06:06:07+01:00', 1_772_600_767_000],
    ['2026-03-04T05:06:07.5Z', 1_772_600_767_500],
    ['2026-02-30T05:06:07+99:99', undefined],
    ['2026-13-04T05:06:07Z', undefined],
    ['2026-03-04', undefined],
    ['yesterday', undefined],
    ['2026-02-30T00:00:00Z', undefined],
    ['2028-02-29T23:30:00+02:00', Date.UTC(2028, 1, 29, 21, 30)],
    ['0000-01-01T00:00:00+00:01', undefined],
    ['9999-12-31T23:59:59-00:01', undefined],
  ])('take the date %s', (text, expected) => {
    expect(parseIsoDate(text)).toBe(expected);
  });
});

describe('devices', () => {
  const devices = new DeviceParser();
  it.each([
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
      'computer',
      'windows',
      'chrome',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Safari/605.1.15',
      'computer',
      'mac osx',
      'safari',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 17_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.1 Mobile/15E148 Safari/604.1',
      'phone',
      'ios',
      'safari',
    ],
    [
      'Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:109.0) Gecko/20100101 Firefox/119.0',
      'computer',
      'linux',
      'firefox',
    ],
    [
      'Mozilla/5.0 (SMART-TV; Linux; Tizen 5.0) AppleWebKit/538.1 (KHTML, like Gecko) Version/5.0 NativeTVAds Safari/538.1',
      'tv',
      'tizen',
      'safari',
    ],
    ['curl/8', 'unknown', 'unknown', 'unknown'],
    ['', 'unknown', 'unknown', 'unknown'],
  ])('%s', (userAgent, deviceType, operatingSystem, browser) => {
    expect(devices.parse(userAgent)).toEqual({ deviceType, operatingSystem, browser });
  });
});

describe('referrers', () => {
  it.each([
    ['https://user:secret@example.org/a?b=c#d', 'https://example.org/a?b=c'],
    ['https://example.org', 'https://example.org/'],
    ['', ''],
    ['javascript:alert(1)', ''],
    ['not an address', ''],
    [`https://example.org/${'a'.repeat(2_048)}`, ''],
  ])('%s', (text, expected) => {
    expect(parseWatchReport({ mid: 'vi1', pid: 'p1', ref: text, eve: [] }, 0).referrer).toBe(expected);
  });
});
