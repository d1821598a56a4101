import { describe, expect, it, onTestFinished } from 'vitest';
import { RateExceeded } from '../../src/http/routing/rate-limiter.ts';
import { SignInAttemptsStore } from '../../src/resources/identity/sessions/sign-in-attempts.store.ts';
import { SignInLimiter } from '../../src/resources/identity/sessions/sign-in-limiter.ts';
import { emailOf } from '../support/sign-in.ts';
import { testTempDir } from '../support/temp-dir.ts';
import { type DatabaseKind, databaseKinds, openTestDatabase } from '../support/test-database.ts';

async function limitsOfTest(kind: DatabaseKind) {
  let nowMs = 0;
  const database = await openTestDatabase(await testTempDir(), kind);
  onTestFinished(() => database.stop());
  const limits = new SignInLimiter(new SignInAttemptsStore(database), {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
  });
  return {
    limits,
    later: (ms: number) => {
      nowMs += ms;
    },
    /** Seconds to wait; 0 when a try is let through. */
    wait: async (email: string, address: string) => {
      try {
        await limits.begin(emailOf(email), address);
        return 0;
      } catch (error) {
        if (!(error instanceof RateExceeded)) throw error;
        return error.rate.retryAfterSeconds;
      }
    },
  };
}

/** One after the other. */
async function times<Value>(count: number, make: (index: number) => Promise<Value>): Promise<Value[]> {
  const values: Value[] = [];
  for (let index = 0; index < count; index += 1) values.push(await make(index));
  return values;
}

function repeated<Value>(count: number, value: Value): Value[] {
  return Array.from({ length: count }, () => value);
}

describe.each(databaseKinds)('the limit of sign-ins on %s', kind => {
  it('lets the eleventh try for an email address wait until 15 minutes after the first, from wherever it comes', async () => {
    const { wait, later } = await limitsOfTest(kind);
    expect(await times(10, n => wait('A@b', `192.0.2.${n}`))).toEqual(repeated(10, 0));
    later(60_000);
    expect(await wait('a@B', '192.0.2.99')).toBe(14 * 60);
    expect(await wait('c@b', '192.0.2.1')).toBe(0);
    later(14 * 60_000);
    expect(await wait('a@b', '192.0.2.1')).toBe(0);
  });

  it('lets the thirty-first try from one place wait, whoever it is for', async () => {
    const { wait } = await limitsOfTest(kind);
    expect(await times(31, async n => (await wait(`${n}@b`, '192.0.2.1')) > 0)).toEqual([
      ...repeated(30, false),
      true,
    ]);
    expect(await wait('a@b', '192.0.2.2')).toBe(0);
  });

  it('takes a network of IPv6 for one place', async () => {
    const { wait } = await limitsOfTest(kind);
    const addresses = ['2001:db8:0:7::1', '2001:0DB8::7:0:0:0:2', '2001:db8:0:7:aaaa:bbbb:cccc:dddd'];
    await times(30, n => wait(`${n}@b`, addresses[n % addresses.length]!));
    expect(await times(3, n => wait('a@b', addresses[n]!))).toEqual(repeated(3, 900));
    expect(
      await Promise.all([wait('a@b', '2001:db8:0:8::1'), wait('a@b', '::1'), wait('a@b', 'fe80::1%eth0')]),
    ).toEqual([0, 0, 0]);
  });

  it('forgets the wrong passwords of an email address after a right one, which counts for no place', async () => {
    const { limits, wait } = await limitsOfTest(kind);
    await times(9, () => wait('a@b', '192.0.2.1'));
    await (await limits.begin(emailOf('a@b'), '192.0.2.1')).succeed();
    for (let n = 0; n < 100; n += 1) await (await limits.begin(emailOf(`${n}@b`), '192.0.2.2')).succeed();
    expect(await times(11, async () => (await wait('a@b', '192.0.2.3')) > 0)).toEqual([
      ...repeated(10, false),
      true,
    ]);
    expect(await wait('c@b', '192.0.2.2')).toBe(0);
  });

  it('keeps nobody out, because strangers guess, of where the password was right before', async () => {
    const { limits, wait } = await limitsOfTest(kind);
    await (await limits.begin(emailOf('a@b'), '192.0.2.1')).succeed();
    await times(10, () => wait('a@b', '192.0.2.2'));
    await times(30, n => wait(`${n}@b`, '192.0.2.1'));
    expect(await wait('c@b', '192.0.2.1')).toBe(900);
    expect(await Promise.all([wait('a@b', '192.0.2.2'), wait('a@b', '192.0.2.3')])).toEqual([900, 900]);
    expect(await wait('A@b', '192.0.2.1')).toBe(0);
    await (await limits.begin(emailOf('a@b'), '192.0.2.1')).succeed();
    expect(await wait('a@b', '192.0.2.2')).toBe(900);
    expect(await times(11, async () => (await wait('a@b', '192.0.2.1')) > 0)).toEqual([
      ...repeated(10, false),
      true,
    ]);
  });

  it('does not count a try whose password nobody looked at', async () => {
    const { limits, wait } = await limitsOfTest(kind);
    for (let n = 0; n < 50; n += 1) await (await limits.begin(emailOf('a@b'), '192.0.2.1')).cancel();
    expect(await wait('a@b', '192.0.2.1')).toBe(0);
  });
});
