import { AppError } from '../shared/errors.ts';
import { Turns } from '../shared/turns.ts';

/** Seconds after which a client that was refused should try again. */
const retryAfterSeconds = 5;

/** How much work on images there is at once. */
export interface ImageQueueLimits {
  readonly maxRunning: number;
  /** Clients' images that wait for their turn. */
  readonly maxWaiting: number;
}

/** All work on images: what clients upload, frames of videos and of broadcasts. Each piece of work runs one process at a time. */
export class ImageQueue {
  readonly #turns: Turns;
  readonly #maxWaiting: number;
  #waiting = 0;

  constructor({ maxRunning, maxWaiting }: ImageQueueLimits) {
    this.#turns = new Turns(maxRunning);
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
    return this.#turns.take(() => {
      this.#waiting -= 1;
      return work();
    });
  }

  /** Does work that is limited where it is ordered, such as that of jobs. */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.take(work);
  }
}
