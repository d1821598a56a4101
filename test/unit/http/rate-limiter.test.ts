import { describe, expect, it } from 'vitest';
import { RateLimiter } from '../../../src/http/rate-limiter.ts';

function limiterAt(limits = { uploads: 1, writes: 2, reads: 3 }) {
  const time = { nowMs: 0 };
  const limiter = new RateLimiter(limits, { nowMs: () => 0, monotonicMs: () => time.nowMs });
  return { limiter, time };
}

describe('a rate limit', () => {
  it('counts down, refuses, and begins anew a minute after its first request', () => {
    const { limiter, time } = limiterAt();
    expect(limiter.take('a', 'writes')).toEqual({
      isAllowed: true,
      limit: 2,
      remaining: 1,
      retryAfterSeconds: 60,
    });
    time.nowMs = 59_500;
    expect(limiter.take('a', 'writes')).toEqual({
      isAllowed: true,
      limit: 2,
      remaining: 0,
      retryAfterSeconds: 1,
    });
    expect(limiter.take('a', 'writes')).toMatchObject({
      isAllowed: false,
      remaining: 0,
      retryAfterSeconds: 1,
    });
    time.nowMs = 60_000;
    expect(limiter.take('a', 'writes')).toMatchObject({ isAllowed: true, remaining: 1 });
  });

  it('is one for each project and class', () => {
    const { limiter } = limiterAt();
    expect(limiter.take('a', 'uploads').isAllowed).toBe(true);
    expect(limiter.take('a', 'uploads').isAllowed).toBe(false);
    expect(limiter.take('b', 'uploads').isAllowed).toBe(true);
    expect(limiter.take('a', 'reads').isAllowed).toBe(true);
  });

  it('of 0 lets all through', () => {
    const { limiter } = limiterAt({ uploads: 0, writes: 0, reads: 0 });
    for (let count = 0; count < 5; count += 1) expect(limiter.take('a', 'reads').isAllowed).toBe(true);
  });
});
