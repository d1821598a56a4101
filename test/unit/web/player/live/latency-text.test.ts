import { describe, expect, it } from 'vitest';
import { formatLatency } from '../../../../../src/web/player/live/latency-text.ts';

describe('formatLatency', () => {
  it.each([
    [-0.4, '< 0.1 s'],
    [0.04, '< 0.1 s'],
    [0.05, '0.1 s'],
    [1.24, '1.2 s'],
    [9.96, '10 s'],
    [59.7, '1 min'],
    [12.4, '12 s'],
    [150, '2 min'],
  ])('%s s: %s', (seconds, expected) => {
    expect(formatLatency(seconds)).toBe(expected);
  });
});
