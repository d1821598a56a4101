import { expect, test } from 'vitest';
import { SampleQueue } from '../../../../src/vod/index/sample-queue.ts';

const sample = (number: number) => ({
  trackId: 2,
  dtsTicks: 1000 * number,
  durationTicks: 1000 + number,
  compositionOffsetTicks: -1 - number,
  isSync: number % 3 === 0,
  position: 2 ** 33 + number,
  sizeBytes: number + 1,
});

test('samples come out as they went in, whatever waits and leaves', () => {
  const queue = new SampleQueue(2);
  let pushed = 0;
  let dropped = 0;
  // Waits for ever more, then for ever less.
  for (const waiting of [1, 40, 63, 64, 65, 30, 500, 20, 0, 3]) {
    for (let round = 0; round < 50; round += 1) {
      for (; pushed - dropped < waiting + 7; pushed += 1)
        queue.push(sample(pushed), pushed % 2 === 0, 2 ** 40, 2 ** 34);
      for (const number of [dropped, pushed - 1]) {
        const { dtsTicks, position } = sample(number);
        expect(queue.at(number - dropped)).toEqual({
          ...sample(number),
          dtsTicks: dtsTicks + 2 ** 34,
          position: position + 2 ** 40,
          startsFragment: number % 2 === 0,
        });
      }
      queue.dropFirst(pushed - dropped - waiting);
      dropped = pushed - waiting;
      expect(queue.length).toBe(waiting);
    }
  }
});
