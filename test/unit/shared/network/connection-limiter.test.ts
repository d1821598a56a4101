import { describe, expect, test } from 'vitest';
import { ConnectionLimiter } from '../../../../src/shared/network/connection-limiter.ts';

describe('connections of an address', () => {
  const countsOf = (maxPerAddress: number) =>
    new ConnectionLimiter({ maxPerAddress, isExempt: address => address === '192.0.2.9' });

  test('are refused beyond the maximum until one is closed', () => {
    const counts = countsOf(2);
    const first = counts.open('192.0.2.1');
    expect(counts.open('::ffff:192.0.2.1')).toBeDefined();
    expect(counts.open('192.0.2.1')).toBeUndefined();
    expect(counts.open('192.0.2.2')).toBeDefined();
    first?.();
    expect(counts.open('192.0.2.1')).toBeDefined();
    expect(counts.open('192.0.2.1')).toBeUndefined();
  });

  test('are those of a /64 network for IPv6', () => {
    const counts = countsOf(1);
    expect(counts.open('2001:db8:0:1::1')).toBeDefined();
    expect(counts.open('2001:db8:0:1:ffff::2')).toBeUndefined();
    expect(counts.open('2001:db8:0:2::1')).toBeDefined();
  });

  test('have no maximum for exempt addresses, nor where it is 0', () => {
    const [capped, uncapped] = [countsOf(1), countsOf(0)];
    for (let count = 0; count < 3; count += 1) {
      expect(capped.open('::ffff:192.0.2.9')).toBeDefined();
      expect(uncapped.open('192.0.2.1')).toBeDefined();
    }
  });
});
