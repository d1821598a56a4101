import { describe, expect, it } from 'vitest';
import { RateLimiter, type RateLimits } from '../../../../src/http/routing/rate-limiter.ts';

function limiterAt(limits: RateLimits = { uploads: 1, writes: 2, reads: 3 }) {
  const time = { nowMs: 0 };
  const limiter = new RateLimiter(limits, { nowMs: () => 0, monotonicMs: () => time.nowMs });
  return { limiter, time };
}

const project = (projectId: string, environment: 'sandbox' | 'production' = 'production') => ({
  projectId,
  environment,
});

describe('a rate limit', () => {
  it('counts down, refuses, and begins anew a minute after its first request', () => {
    const { limiter, time } = limiterAt();
    expect(limiter.take(project('a'), 'writes')).toEqual({
      isAllowed: true,
      limit: 2,
      remaining: 1,
      retryAfterSeconds: 60,
    });
    time.nowMs = 59_500;
    expect(limiter.take(project('a'), 'writes')).toEqual({
      isAllowed: true,
      limit: 2,
      remaining: 0,
      retryAfterSeconds: 1,
    });
    expect(limiter.take(project('a'), 'writes')).toMatchObject({
      isAllowed: false,
      remaining: 0,
      retryAfterSeconds: 1,
    });
    time.nowMs = 60_000;
    expect(limiter.take(project('a'), 'writes')).toMatchObject({ isAllowed: true, remaining: 1 });
  });

  it('is one for each project and class', () => {
    const { limiter } = limiterAt();
    expect(limiter.take(project('a'), 'uploads').isAllowed).toBe(true);
    expect(limiter.take(project('a'), 'uploads').isAllowed).toBe(false);
    expect(limiter.take(project('b'), 'uploads').isAllowed).toBe(true);
    expect(limiter.take(project('a'), 'reads').isAllowed).toBe(true);
  });

  it('of the sandbox is another one, where there is one', () => {
    const limits = { uploads: 0, writes: 2, reads: 0, sandbox: { uploads: 0, writes: 1, reads: 0 } };
    const { limiter } = limiterAt(limits);
    expect(limiter.take(project('a', 'sandbox'), 'writes').limit).toBe(1);
    expect(limiter.take(project('b'), 'writes').limit).toBe(2);
    const same = limiterAt();
    expect(same.limiter.take(project('a', 'sandbox'), 'writes').limit).toBe(2);
  });

  it('of 0 lets all through', () => {
    const { limiter } = limiterAt({ uploads: 0, writes: 0, reads: 0 });
    for (let count = 0; count < 5; count += 1)
      expect(limiter.take(project('a'), 'reads').isAllowed).toBe(true);
  });
});
