import type { Clock } from '../shared/clock.ts';
import { AppError } from '../shared/errors.ts';

/** What a request counts as. */
export type RateClass = 'uploads' | 'writes' | 'reads';

/** Requests a minute for one project; 0 is no limit. */
export type RateLimits = Readonly<Record<RateClass, number>>;

/** What the `X-RateLimit-*` headers say. */
export interface RateState {
  readonly isAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the window begins anew, 0..60. */
  readonly retryAfterSeconds: number;
}

/** The headers of every answer that tell a caller about its limit. */
export function rateHeaders(state: RateState): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(state.limit),
    'X-RateLimit-Remaining': String(state.remaining),
    'X-RateLimit-Retry-After': String(state.retryAfterSeconds),
  };
}

interface Window {
  endsAtMs: number;
  used: number;
}

const windowMs = 60_000;
const windowsBeforeSweep = 10_000;
/** Announced where there is no limit: clients that slow down near the end never do. */
const plenty = 1_000_000;

/** What is told where nothing is counted. */
export const unlimited: RateState = {
  isAllowed: true,
  limit: plenty,
  remaining: plenty,
  retryAfterSeconds: 0,
};

/** A request beyond the limit of its project. */
export class RateExceeded extends AppError {
  readonly rate: RateState;

  constructor(rate: RateState) {
    super('too-many-requests');
    this.rate = rate;
  }
}

/** Counts requests by project and class in windows of a minute that begin with the first request. */
export class RateLimiter {
  readonly #limits: RateLimits;
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();
  #sweepAt = windowsBeforeSweep;

  constructor(limits: RateLimits, clock: Clock) {
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Takes one request of a project; what its caller is told of that. @throws RateExceeded when the window is used up */
  require(projectId: string, rateClass: RateClass): RateState {
    const rate = this.take(projectId, rateClass);
    if (!rate.isAllowed) throw new RateExceeded(rate);
    return rate;
  }

  /** Takes one request of a project, unless its window is used up. */
  take(projectId: string, rateClass: RateClass): RateState {
    const limit = this.#limits[rateClass];
    if (limit === 0) return this.untouched(rateClass);
    const nowMs = this.#clock.monotonicMs();
    const window = this.#windowOf(`${rateClass}:${projectId}`, nowMs);
    const isAllowed = window.used < limit;
    if (isAllowed) window.used += 1;
    return {
      isAllowed,
      limit,
      remaining: limit - window.used,
      retryAfterSeconds: Math.ceil((window.endsAtMs - nowMs) / 1_000),
    };
  }

  /** What a request that belongs to no project is told. */
  untouched(rateClass: RateClass): RateState {
    const limit = this.#limits[rateClass];
    return limit === 0 ? unlimited : { isAllowed: true, limit, remaining: limit, retryAfterSeconds: 0 };
  }

  #windowOf(key: string, nowMs: number): Window {
    const current = this.#windows.get(key);
    if (current !== undefined && current.endsAtMs > nowMs) return current;
    if (this.#windows.size >= this.#sweepAt) this.#sweep(nowMs);
    const window = { endsAtMs: nowMs + windowMs, used: 0 };
    this.#windows.set(key, window);
    return window;
  }

  #sweep(nowMs: number): void {
    for (const [key, window] of this.#windows) if (window.endsAtMs <= nowMs) this.#windows.delete(key);
    this.#sweepAt = Math.max(windowsBeforeSweep, this.#windows.size * 2);
  }
}
