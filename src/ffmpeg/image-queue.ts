import { AppError } from '../shared/errors.ts';
import { ConcurrencyLimit } from '../shared/scheduling/concurrency-limit.ts';

const retryAfterSeconds = 5;

interface ImageQueueLimits {
  readonly maxRunning: number;
  readonly maxWaiting: number;
}

/** Bounds all image processing: of uploads, videos and broadcasts. */
export class ImageQueue {
  readonly #turns: ConcurrencyLimit;
  readonly #maxWaiting: number;
  #waiting = 0;

  constructor({ maxRunning, maxWaiting }: ImageQueueLimits) {
    this.#turns = new ConcurrencyLimit(maxRunning);
    this.#maxWaiting = maxWaiting;
  }

  /** Runs work that a client waits for. @throws AppError `images-busy` when the queue is full */
  async serve<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#turns.isBusy && this.#waiting >= this.#maxWaiting) {
      const detail = `${this.#waiting} images are waiting to be processed. Try again in ${retryAfterSeconds} seconds.`;
      throw new AppError('images-busy', undefined, { details: { detail, retryAfterSeconds } });
    }
    this.#waiting += 1;
    return this.#turns.run(() => {
      this.#waiting -= 1;
      return work();
    });
  }

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(work);
  }
}
