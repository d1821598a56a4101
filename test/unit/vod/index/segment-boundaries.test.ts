import { expect, test } from 'vitest';
import { boundaryAfter } from '../../../../src/vod/index/segment-boundaries.ts';

const starts = [0, 3, 8];
const finished = {
  startSeconds: (index: number) => starts[index],
  end: () => ({ segmentCount: 3, seconds: 9 }),
};

test('segments end where those of the other rendition end, and every segment duration after its last', () => {
  const ends = [0, 1, 2, 3, 4].map(index => boundaryAfter(index, finished, 4));
  expect(ends.map(end => end?.seconds)).toEqual([3, 8, 9, 13, 17]);
  expect(ends.map(end => end!.neededSeconds - end!.seconds)).toEqual([0, 0, 0.5, 0.5, 0.5]);
});

test('boundaries after the last one are computed without searching for it', () => {
  let calls = 0;
  const counted = {
    ...finished,
    startSeconds: (index: number) => {
      calls += 1;
      return starts[index];
    },
  };
  expect(boundaryAfter(100_000, counted, 4)?.seconds).toBe(9 + 4 * 99_998);
  expect(calls).toBe(1);
});

test('the boundary is unknown while the other rendition grows', () => {
  expect(boundaryAfter(2, { ...finished, end: () => undefined }, 4)).toBeUndefined();
});
