import { AppError } from '../shared/errors.ts';
import { ConcurrencyLimit } from '../shared/scheduling/concurrency-limit.ts';

/** Seconds after which a client that was refused should try again. */
const retryAfterSeconds = 5;

/** Limits of an {@link ImageQueue}. */
export interface ImageQueueLimits {
  /** Images that are processed at once. */
  readonly maxRunning: number;
  /** Images of clients that wait to be processed. */
  readonly maxWaiting: number;
}

/** Bounds all work on images: uploads of clients, frames of videos and of broadcasts. Each piece of work runs one process at a time. */
export class ImageQueue {
  readonly #turns: ConcurrencyLimit;
  readonly #maxWaiting: number;
  #waiting = 0;

  constructor({ maxRunning, maxWaiting }: ImageQueueLimits) {
    this.#turns = new ConcurrencyLimit(maxRunning);
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Does work that a client waits for.
   *
   * @throws AppError `images-busy` when as many wait as may
   */
  async serve<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#turns.isBusy && this.#waiting >= this.#maxWaiting) {
      const detail = `${this.#waiting} images wait to be processed. Try again in ${retryAfterSeconds} seconds.`;
      throw new AppError('images-busy', undefined, { details: { detail, retryAfterSeconds } });
    }
    this.#waiting += 1;
    return this.#turns.run(() => {
      this.#waiting -= 1;
      return work();
    });
  }

  /** Does work that is limited where it is ordered, such as that of jobs. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(work);
  }
}
