import type { Clock } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { FixedWindows } from '../../shared/fixed-windows.ts';

/** Class of requests with a limit of its own. */
export type RateClass = 'uploads' | 'writes' | 'reads';

type Rates = Readonly<Record<RateClass, number>>;

/** Maximum requests per minute and project; 0 for no limit. `sandbox` replaces them in the sandbox. */
export type RateLimits = Rates & { readonly sandbox?: Rates };

/** The project whose requests are counted. */
export interface RatedProject {
  readonly projectId: string;
  readonly environment: 'sandbox' | 'production';
}

/** Returns the limits of an environment. */
export function ratesOf({ sandbox, ...rates }: RateLimits, environment: RatedProject['environment']): Rates {
  return environment === 'sandbox' ? (sandbox ?? rates) : rates;
}

/** Values of the `X-RateLimit-*` headers. */
export interface RateState {
  readonly isAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Time until the next window: 0..60 for a project, more for sign-ins. */
  readonly retryAfterSeconds: number;
}

/** Formats the headers about the caller's limit. */
export function rateHeaders(state: RateState): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(state.limit),
    'X-RateLimit-Remaining': String(state.remaining),
    'X-RateLimit-Retry-After': String(state.retryAfterSeconds),
  };
}

const windowMs = 60_000;
/** Announced without a limit, so that clients that slow down near the limit never do. */
const unlimitedCount = 1_000_000;

/** State without a limit. */
export const unlimited: RateState = {
  isAllowed: true,
  limit: unlimitedCount,
  remaining: unlimitedCount,
  retryAfterSeconds: 0,
};

/** A request beyond the limit of its project, or another limit that `detail` explains. */
export class RateExceeded extends AppError {
  readonly rate: RateState;

  constructor(rate: RateState, detail?: string) {
    super('too-many-requests', undefined, detail === undefined ? {} : { details: { detail } });
    this.rate = rate;
  }
}

/** Limits requests by project and class, in windows of a minute that begin with the first request. */
export class RateLimiter {
  readonly #limits: Readonly<Record<RatedProject['environment'], Rates>>;
  readonly #windows: FixedWindows;

  constructor(limits: RateLimits, clock: Clock) {
    this.#limits = { sandbox: ratesOf(limits, 'sandbox'), production: ratesOf(limits, 'production') };
    // Bounded by the projects that send requests within a minute.
    this.#windows = new FixedWindows({ windowMs, maxKeys: Number.POSITIVE_INFINITY, clock });
  }

  /** Counts a request. @throws RateExceeded beyond the limit */
  require(project: RatedProject, rateClass: RateClass): RateState {
    const rate = this.take(project, rateClass);
    if (!rate.isAllowed) throw new RateExceeded(rate);
    return rate;
  }

  /** Counts a request unless the limit is reached. */
  take({ projectId, environment }: RatedProject, rateClass: RateClass): RateState {
    const limit = this.#limits[environment][rateClass];
    if (limit === 0) return unlimited;
    const key = `${rateClass}:${projectId}`;
    const window = this.#windows.get(key);
    const isAllowed = window.count < limit;
    if (isAllowed) this.#windows.add(key, window);
    return {
      isAllowed,
      limit,
      remaining: limit - window.count,
      retryAfterSeconds: this.#windows.secondsUntilEnd(window),
    };
  }

  /** Returns the state for a request that belongs to no project. */
  unusedState(rateClass: RateClass): RateState {
    const limit = this.#limits.production[rateClass];
    return limit === 0 ? unlimited : { isAllowed: true, limit, remaining: limit, retryAfterSeconds: 0 };
  }
}
