import { describe, expect, test } from 'vitest';
import { ImageQueue } from '../../../src/ffmpeg/image-queue.ts';

/** Work that runs until a test ends it, and how much of it runs. */
function endless() {
  const running: PromiseWithResolvers<void>[] = [];
  const work = async () => {
    const one = Promise.withResolvers<void>();
    running.push(one);
    await one.promise;
  };
  return { running, work };
}

const settled = () => new Promise(resolve => setImmediate(resolve));

describe('the queue of work on images', () => {
  test('runs so many at once, and the rest in the order in which it came', async () => {
    const queue = new ImageQueue({ maxRunning: 2, maxWaiting: 10 });
    const { running, work } = endless();
    const order: number[] = [];
    const all = Array.from({ length: 5 }, (_, index) => {
      const take = async () => {
        order.push(index);
        await work();
      };
      return index % 2 === 0 ? queue.serve(take) : queue.run(take);
    });
    for (let ended = 0; ended < 5; ended += 1) {
      await settled();
      expect(order).toEqual([0, 1, 2, 3, 4].slice(0, ended + 2));
      running[ended]!.resolve();
    }
    await Promise.all(all);
  });

  test('refuses what clients would wait for beyond the limit, and takes it again afterwards', async () => {
    const queue = new ImageQueue({ maxRunning: 2, maxWaiting: 1 });
    const { running, work } = endless();
    const taken = [queue.serve(work), queue.run(work), queue.serve(work)];
    await expect(queue.serve(work)).rejects.toMatchObject({
      code: 'images-busy',
      status: 503,
      details: {
        retryAfterSeconds: 5,
        detail: '1 images are waiting to be processed. Try again in 5 seconds.',
      },
    });
    // Jobs are limited where they are ordered.
    taken.push(queue.run(work));
    running[0]!.reject(new Error('the disk fails'));
    await expect(taken[0]).rejects.toThrow('the disk fails');
    const next = queue.serve(work);
    for (let index = 1; index < 5; index += 1) {
      await settled();
      running[index]!.resolve();
    }
    await Promise.all([...taken.slice(1), next]);
  });
});
