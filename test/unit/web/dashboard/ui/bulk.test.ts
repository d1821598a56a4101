import { describe, expect, it } from 'vitest';
import { ApiProblem } from '../../../../../src/web/dashboard/api/problem.ts';
import { bulkText } from '../../../../../src/web/dashboard/pages/videos/bulk-text.ts';
import { runBulk } from '../../../../../src/web/dashboard/ui/bulk/run-bulk.ts';
import { rangeOf } from '../../../../../src/web/dashboard/ui/range-of.ts';

const items = Array.from({ length: 40 }, (_, index) => index);
const fails =
  (status: number, title = 'No.', retryAfter?: number) =>
  () =>
    Promise.reject(new ApiProblem(status, { title }, retryAfter));
const text = (result: Awaited<ReturnType<typeof runBulk<number>>>) =>
  bulkText({ ...result, done: result.done.map(item => ({ title: `Film ${item}` })) }, 'trashed');

describe('work with many items', () => {
  it('goes on after failures, and tells how many there were and why', async () => {
    const finished: number[] = [];
    const result = await runBulk(
      items,
      async item => {
        if (item === 3 || item === 20) throw new ApiProblem(500, { title: 'The disk is full.' });
        if (item === 7) throw new ApiProblem(404, { title: 'Not found.' });
      },
      { onProgress: count => finished.push(count) },
    );
    expect([result.done.length, result.missing, result.left]).toEqual([37, [7], []]);
    expect(result.failed.map(({ item }) => item)).toEqual([3, 20]);
    expect(finished).toEqual(items.map(item => item + 1));
    expect(text(result)).toBe('37 videos moved to trash, 2 failed, 1 no longer there: The disk is full.');
  });

  it('names the only one', async () => {
    expect(text(await runBulk([5], async () => {}))).toBe('“Film 5” moved to trash.');
    expect(text(await runBulk([5], fails(409, 'Busy.')))).toBe('0 videos moved to trash, 1 failed: Busy.');
  });

  it('waits as long as the server asks, and not for ever', async () => {
    const waits: number[] = [];
    const options = { wait: async (seconds: number) => void waits.push(seconds) };
    let refusals = 2;
    const busy = async () => {
      refusals -= 1;
      if (refusals >= 0) throw new ApiProblem(429, { title: 'Slow down.' }, 3_000);
    };
    expect((await runBulk([1], busy, options)).done).toEqual([1]);
    expect(waits).toEqual([60, 60]);
    expect((await runBulk([1], fails(429), options)).failed).toHaveLength(1);
  });

  it.each([0, 401, 403])('ends when all others would fail, too: status %d', async status => {
    const result = await runBulk(items, fails(status, 'Gone.'));
    expect(result.done).toEqual([]);
    expect(result.failed.length).toBeLessThanOrEqual(4);
    expect(result.failed.length + result.left.length).toBe(items.length);
    expect(text(result)).toBe('0 videos moved to trash, 40 failed: Gone.');
  });

  it('can be stopped', async () => {
    const abort = new AbortController();
    const result = await runBulk(items, async item => item === 9 && abort.abort(), { signal: abort.signal });
    expect(result.done.length + result.left.length).toBe(items.length);
    expect(result.left.length).toBeGreaterThan(20);
  });
});

describe('a range of rows', () => {
  const keys = ['a', 'b', 'c', 'd'];
  it.each([
    ['a', 'c', ['a', 'b', 'c']],
    ['d', 'b', ['b', 'c', 'd']],
    [undefined, 'c', ['c']],
    ['elsewhere', 'c', ['c']],
  ] as const)('from %s to %s', (from, to, expected) => {
    expect(rangeOf(keys, from, to)).toEqual(expected);
  });
});
