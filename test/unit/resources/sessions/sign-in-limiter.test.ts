import { expect, test } from 'vitest';
import { RateExceeded } from '../../../../src/http/routing/rate-limiter.ts';
import { SignInLimiter } from '../../../../src/resources/sessions/sign-in-limiter.ts';

function limitsOfTest() {
  let nowMs = 0;
  const limits = new SignInLimiter({ nowMs: () => 0, monotonicMs: () => nowMs });
  return {
    limits,
    later: (ms: number) => {
      nowMs += ms;
    },
    /** Seconds to wait; 0 when a try is let through. */
    wait: (email: string, address: string) => {
      try {
        limits.begin(email, address);
        return 0;
      } catch (error) {
        if (!(error instanceof RateExceeded)) throw error;
        return error.rate.retryAfterSeconds;
      }
    },
  };
}
const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, n) => make(n));

test('the eleventh try for an email address waits until 15 minutes after the first, from wherever it comes', () => {
  const { wait, later } = limitsOfTest();
  expect(times(10, n => wait('A@b', `192.0.2.${n}`))).toEqual(times(10, () => 0));
  later(60_000);
  expect(wait('a@B', '192.0.2.99')).toBe(14 * 60);
  expect(wait('c@b', '192.0.2.1')).toBe(0);
  later(14 * 60_000);
  expect(wait('a@b', '192.0.2.1')).toBe(0);
});

test('the thirty-first try from one place waits, whoever it is for', () => {
  const { wait } = limitsOfTest();
  expect(times(31, n => wait(`${n}@b`, '192.0.2.1') > 0)).toEqual([...times(30, () => false), true]);
  expect(wait('a@b', '192.0.2.2')).toBe(0);
});

test('a network of IPv6 is one place', () => {
  const { wait } = limitsOfTest();
  const addresses = ['2001:db8:0:7::1', '2001:0DB8::7:0:0:0:2', '2001:db8:0:7:aaaa:bbbb:cccc:dddd'];
  times(30, n => wait(`${n}@b`, addresses[n % addresses.length]!));
  expect(addresses.map(address => wait('a@b', address))).toEqual(times(3, () => 900));
  expect([wait('a@b', '2001:db8:0:8::1'), wait('a@b', '::1'), wait('a@b', 'fe80::1%eth0')]).toEqual([
    0, 0, 0,
  ]);
});

test('a right password forgets the wrong ones of its email address, and counts for no place', () => {
  const { limits, wait } = limitsOfTest();
  times(9, () => wait('a@b', '192.0.2.1'));
  limits.begin('a@b', '192.0.2.1').succeed();
  times(100, n => limits.begin(`${n}@b`, '192.0.2.2').succeed());
  expect(times(11, () => wait('a@b', '192.0.2.3') > 0)).toEqual([...times(10, () => false), true]);
  expect(wait('c@b', '192.0.2.2')).toBe(0);
});

test('strangers who guess do not keep somebody out of where the password was right before', () => {
  const { limits, wait } = limitsOfTest();
  limits.begin('a@b', '192.0.2.1').succeed();
  times(10, () => wait('a@b', '192.0.2.2'));
  times(30, n => wait(`${n}@b`, '192.0.2.1'));
  expect(wait('c@b', '192.0.2.1')).toBe(900);
  expect([wait('a@b', '192.0.2.2'), wait('a@b', '192.0.2.3')]).toEqual([900, 900]);
  expect(wait('A@b', '192.0.2.1')).toBe(0);
  limits.begin('a@b', '192.0.2.1').succeed();
  expect(wait('a@b', '192.0.2.2')).toBe(900);
  expect(times(11, () => wait('a@b', '192.0.2.1') > 0)).toEqual([...times(10, () => false), true]);
});

test('a try whose password nobody looked at does not count', () => {
  const { limits, wait } = limitsOfTest();
  times(50, () => limits.begin('a@b', '192.0.2.1').cancel());
  expect(wait('a@b', '192.0.2.1')).toBe(0);
});
