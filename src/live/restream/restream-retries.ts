import {
  doublingDelaysMs,
  type RetrySchedule,
  retryDelayMs,
} from '../../shared/scheduling/retry-schedule.ts';
import type { RestreamFailure } from './restream-failure.ts';

export interface RestreamTimeouts {
  readonly firstRetryMs: number;
  readonly maxRetryMs: number;
  /** The delays start over after so long without a failure. */
  readonly healthyMs: number;
  readonly acceptMs: number;
  readonly stallMs: number;
}

export const restreamTimeouts: RestreamTimeouts = {
  firstRetryMs: 1_000,
  maxRetryMs: 60_000,
  healthyMs: 30_000,
  acceptMs: 15_000,
  stallMs: 10_000,
};

/** A destination that still holds a previous connection rejects the next one for a while. */
const maxQuickRetriesAfterRefusal = 3;

export class RestreamRetries {
  readonly #schedule: RetrySchedule;
  readonly #random: () => number;
  #failures = 0;
  #refusals = 0;
  #isRetry = false;
  #isDue = true;
  #timer: NodeJS.Timeout | undefined;
  count = 0;

  /** @param random 0..1; spreads the retries of many destinations */
  constructor(timeouts: RestreamTimeouts, random: () => number = Math.random) {
    const { firstRetryMs, maxRetryMs } = timeouts;
    this.#schedule = {
      delaysMs: doublingDelaysMs(firstRetryMs, maxRetryMs),
      jitter: { min: 0.75, max: 1.25 },
    };
    this.#random = random;
  }

  get isDue(): boolean {
    return this.#isDue;
  }

  begin(): boolean {
    this.#isDue = false;
    const isRetry = this.#isRetry;
    this.#isRetry = false;
    if (isRetry) this.count += 1;
    return isRetry;
  }

  accepted(): void {
    this.#refusals = 0;
  }

  reset(): void {
    this.#failures = 0;
  }

  /** Schedules a retry with exponential backoff; returns its delay. */
  failed({ reason, isLasting }: RestreamFailure): number {
    this.#failures += 1;
    this.#isRetry = true;
    if (reason === 'refused') this.#refusals += 1;
    const isPermanent = isLasting && (reason !== 'refused' || this.#refusals > maxQuickRetriesAfterRefusal);
    const attempts = isPermanent ? Number.POSITIVE_INFINITY : this.#failures;
    const retryMs = retryDelayMs(this.#schedule, attempts, this.#random());
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#isDue = true;
    }, retryMs);
    return retryMs;
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#isDue = false;
  }
}
