import type { Clock } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { FixedWindows } from '../../shared/fixed-windows.ts';

/** What a request counts as. */
export type RateClass = 'uploads' | 'writes' | 'reads';

type Rates = Readonly<Record<RateClass, number>>;

/** Requests a minute for one project; 0 is no limit. `sandbox`: other ones for those of the sandbox. */
export type RateLimits = Rates & { readonly sandbox?: Rates };

/** Whose requests are counted. */
export interface RatedProject {
  readonly projectId: string;
  readonly environment: 'sandbox' | 'production';
}

/** What holds in an environment. */
export function ratesOf({ sandbox, ...rates }: RateLimits, environment: RatedProject['environment']): Rates {
  return environment === 'sandbox' ? (sandbox ?? rates) : rates;
}

/** What the `X-RateLimit-*` headers say. */
export interface RateState {
  readonly isAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Until the window begins anew: 0..60 for a project, more for sign-ins. */
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

const windowMs = 60_000;
/** Announced where there is no limit: clients that slow down near the end never do. */
const unlimitedCount = 1_000_000;

/** What is told where nothing is counted. */
export const unlimited: RateState = {
  isAllowed: true,
  limit: unlimitedCount,
  remaining: unlimitedCount,
  retryAfterSeconds: 0,
};

/** A request beyond the limit of its project, or another limit that `detail` tells of. */
export class RateExceeded extends AppError {
  readonly rate: RateState;

  constructor(rate: RateState, detail?: string) {
    super('too-many-requests', undefined, detail === undefined ? {} : { details: { detail } });
    this.rate = rate;
  }
}

/** Counts requests by project and class in windows of a minute that begin with the first request. */
export class RateLimiter {
  readonly #limits: Readonly<Record<RatedProject['environment'], Rates>>;
  readonly #windows: FixedWindows;

  constructor(limits: RateLimits, clock: Clock) {
    this.#limits = { sandbox: ratesOf(limits, 'sandbox'), production: ratesOf(limits, 'production') };
    // Bounded by the projects that send requests within a minute.
    this.#windows = new FixedWindows({ windowMs, maxKeys: Number.POSITIVE_INFINITY, clock });
  }

  /** Takes one request of a project; what its caller is told of that. @throws RateExceeded when the window is used up */
  require(project: RatedProject, rateClass: RateClass): RateState {
    const rate = this.take(project, rateClass);
    if (!rate.isAllowed) throw new RateExceeded(rate);
    return rate;
  }

  /** Takes one request of a project, unless its window is used up. */
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

  /** What a request that belongs to no project is told. */
  unusedState(rateClass: RateClass): RateState {
    const limit = this.#limits.production[rateClass];
    return limit === 0 ? unlimited : { isAllowed: true, limit, remaining: limit, retryAfterSeconds: 0 };
  }
}
