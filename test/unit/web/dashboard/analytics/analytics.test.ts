import { describe, expect, it } from 'vitest';
import { formatDimensionValue } from '../../../../../src/web/dashboard/pages/analytics/breakdowns.ts';
import { csvOf } from '../../../../../src/web/dashboard/pages/analytics/csv.ts';
import {
  changePercent,
  parseRange,
  resolveRange,
} from '../../../../../src/web/dashboard/pages/analytics/time-range.ts';

const now = Date.parse('2026-03-14T15:20:30Z');
const shown = (query: Record<string, string>, isSandbox = false) => {
  const { fromMs, toMs, interval, before, clock } = resolveRange(
    parseRange(query, isSandbox, now),
    isSandbox,
    now,
  );
  const iso = (ms: number) => new Date(ms).toISOString().slice(0, 16);
  expect(clock).toBe(interval === 'day' ? 'days' : query.range === 'custom' ? 'utc' : 'local');
  return [iso(fromMs), iso(toMs), interval, before && iso(before.fromMs), before && iso(before.toMs)];
};

describe('ranges', () => {
  it.each([
    [{}, ['2026-03-08T00:00', '2026-03-14T15:20', 'day', '2026-03-01T00:00', '2026-03-07T15:20']],
    [
      { range: '24h' },
      ['2026-03-13T16:00', '2026-03-14T15:20', 'hour', '2026-03-12T16:00', '2026-03-13T15:20'],
    ],
    [{ range: '30d' }, ['2026-02-13T00:00', '2026-03-14T15:20', 'day', undefined, undefined]],
    [
      { range: 'custom', from: '2026-03-10', to: '2026-03-11' },
      ['2026-03-10T00:00', '2026-03-12T00:00', 'hour', '2026-03-08T00:00', '2026-03-10T00:00'],
    ],
    // Moves invalid or unkept days to valid ones.
    [
      { range: 'custom', from: '2020-01-01', to: '2027-01-01' },
      ['2026-02-13T00:00', '2026-03-14T15:20', 'day', undefined, undefined],
    ],
    [
      { range: 'custom', from: 'x', to: '2026-03-01' },
      ['2026-03-01T00:00', '2026-03-02T00:00', 'hour', '2026-02-28T00:00', '2026-03-01T00:00'],
    ],
    [
      { range: 'constructor' },
      ['2026-03-08T00:00', '2026-03-14T15:20', 'day', '2026-03-01T00:00', '2026-03-07T15:20'],
    ],
  ] as const)('%j', (query, expected) => {
    expect(shown(query)).toEqual(expected);
  });

  it('of a sandbox are its last day, which has nothing before it', () => {
    expect(shown({ range: '30d' }, true)).toEqual([
      ...['2026-03-13T16:00', '2026-03-14T15:20', 'hour', undefined, undefined],
    ]);
  });

  it('are compared in percent where there was something', () => {
    expect([changePercent(3, 2), changePercent(1, 2), changePercent(1, 0)]).toEqual([50, -50, undefined]);
  });
});

describe('names', () => {
  it.each([
    ['country', 'FR', 'France'],
    ['country', '', 'Unknown'],
    ['country', 'Q?', 'Q?'],
    ['device-type', 'tv', 'Television'],
    ['browser', 'samsung internet', 'Samsung Internet'],
    ['browser', 'unknown', 'Unknown'],
    ['operating-system', 'mac osx', 'macOS'],
    ['referrer', 'https://www.example.org/a?b=1', 'example.org/a?b=1'],
    ['referrer', '', 'Direct or unknown'],
    ['viewer-id', 'Customer unknown', 'Customer unknown'],
    ['viewer-id', '', 'Without an id'],
  ] as const)('of %s "%s"', (dimension, value, name) => {
    expect(formatDimensionValue(dimension, value, 'en')).toBe(name);
  });
});

describe('CSV', () => {
  it('quotes what has to be, and has no formulas from strangers', () => {
    const rows = [
      ['plain', 1],
      ['with "quotes", and a comma', 2.5],
      ['=HYPERLINK("x")', -3],
      ['@x\ny', 0],
    ];
    expect(csvOf(['name', 'plays'], rows)).toBe(
      '\uFEFFname,plays\r\nplain,1\r\n"with ""quotes"", and a comma",2.5\r\n"\'=HYPERLINK(""x"")",-3\r\n"\'@x\ny",0\r\n',
    );
  });
});
