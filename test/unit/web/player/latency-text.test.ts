import { describe, expect, it } from 'vitest';
import { formatLatency } from '../../../../src/web/player/latency-text.ts';

describe('formatLatency', () => {
  it.each([
    [-0.4, '0.0 s behind'],
    [1.24, '1.2 s behind'],
    [9.96, '10 s behind'],
    [59.7, '1 min behind'],
    [12.4, '12 s behind'],
    [150, '2 min behind'],
  ])('%s s: %s', (seconds, expected) => {
    expect(formatLatency(seconds)).toBe(expected);
  });
});
