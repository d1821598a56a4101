import { AppError } from '../shared/errors.ts';
import { ConcurrencyLimit } from '../shared/scheduling/concurrency-limit.ts';
import { isInterruption } from './run-failure.ts';

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

  /** Runs work that a client waits for. @throws AppError `images-busy` when the queue is full, or the work is interrupted */
  async serve<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#turns.isBusy && this.#waiting >= this.#maxWaiting) {
      throw busy(`${this.#waiting} images are waiting to be processed.`);
    }
    this.#waiting += 1;
    return this.#turns.run(async () => {
      this.#waiting -= 1;
      try {
        return await work();
      } catch (error) {
        if (!isInterruption(error)) throw error;
        throw busy('The server did not finish processing the image.', error);
      }
    });
  }

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#turns.run(work);
  }
}

function busy(reason: string, cause?: unknown): AppError {
  const detail = `${reason} Try again in ${retryAfterSeconds} seconds.`;
  return new AppError('images-busy', undefined, { cause, details: { detail, retryAfterSeconds } });
}
