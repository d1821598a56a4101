import { describe, expect, it } from 'vitest';
import { formatAtom } from '../../../src/shared/clock.ts';

describe('an ATOM date', () => {
  it.each([
    ['2026-03-04T05:06:07.000Z', '2026-03-04T05:06:07+00:00'],
    ['2026-03-04T05:06:07.999Z', '2026-03-04T05:06:07+00:00'],
    ['2026-03-04T23:59:59.999Z', '2026-03-04T23:59:59+00:00'],
    ['2026-03-05T00:00:00.000Z', '2026-03-05T00:00:00+00:00'],
    ['2026-03-04T12:00:00.000Z', '2026-03-04T12:00:00+00:00'],
    ['2024-02-29T10:20:30.000Z', '2024-02-29T10:20:30+00:00'],
    ['1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00+00:00'],
    ['1969-12-31T23:59:58.500Z', '1969-12-31T23:59:58+00:00'],
  ])('of %s is %s', (iso, atom) => {
    expect(formatAtom(Date.parse(iso))).toBe(atom);
  });

  it('is that of the machine at any time', () => {
    for (let atMs = -5e12; atMs < 8e12; atMs += 7_654_321_987) {
      expect(formatAtom(atMs)).toBe(`${new Date(atMs).toISOString().slice(0, 19)}+00:00`);
    }
  });
});
