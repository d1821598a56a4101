import type { Clock } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { FixedWindows } from '../../shared/fixed-windows.ts';

export const rateClasses = ['uploads', 'writes', 'reads'] as const;

export type RateClass = (typeof rateClasses)[number];

type Rates = Readonly<Record<RateClass, number>>;

/** Requests per minute and project; 0 for no limit. `sandbox` replaces them in the sandbox. */
export type RateLimits = Rates & { readonly sandbox?: Rates };

export interface RatedProject {
  readonly projectId: string;
  readonly environment: 'sandbox' | 'production';
}

export function ratesOf(limits: RateLimits, environment: RatedProject['environment']): Rates {
  return environment === 'sandbox' ? (limits.sandbox ?? limits) : limits;
}

export interface RateState {
  readonly isAllowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Time until the next window: 0..60 for a project, more for sign-ins. */
  readonly retryAfterSeconds: number;
}

export function rateHeaders(state: RateState): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(state.limit),
    'X-RateLimit-Remaining': String(state.remaining),
    'X-RateLimit-Retry-After': String(state.retryAfterSeconds),
  };
}

const windowMs = 60_000;
/** Sent without a limit, so that clients that slow down near the limit never do. */
const unlimitedCount = 1_000_000;

export const unlimited: RateState = {
  isAllowed: true,
  limit: unlimitedCount,
  remaining: unlimitedCount,
  retryAfterSeconds: 0,
};

export class RateExceeded extends AppError {
  readonly rate: RateState;

  constructor(rate: RateState, detail?: string) {
    super('too-many-requests', undefined, detail === undefined ? {} : { details: { detail } });
    this.rate = rate;
  }
}

/** Limits requests by project and class, in one-minute windows that begin with the first request. */
export class RateLimiter {
  readonly #limits: Readonly<Record<RatedProject['environment'], Rates>>;
  readonly #windows: FixedWindows;

  constructor(limits: RateLimits, clock: Clock) {
    this.#limits = { sandbox: ratesOf(limits, 'sandbox'), production: ratesOf(limits, 'production') };
    // Bounded by the projects that send requests within a minute.
    this.#windows = new FixedWindows({ windowMs, maxKeys: Number.POSITIVE_INFINITY, clock });
  }

  /** @throws RateExceeded */
  require(project: RatedProject, rateClass: RateClass): RateState {
    const rate = this.take(project, rateClass);
    if (!rate.isAllowed) throw new RateExceeded(rate);
    return rate;
  }

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
      // The limit may have been higher before.
      remaining: Math.max(0, limit - window.count),
      retryAfterSeconds: this.#windows.secondsUntilEnd(window),
    };
  }

  unusedState(rateClass: RateClass): RateState {
    const limit = this.#limits.production[rateClass];
    return limit === 0 ? unlimited : { isAllowed: true, limit, remaining: limit, retryAfterSeconds: 0 };
  }
}
