import { expect, test } from 'vitest';
import { sqliteQueries } from '../../../src/store/sqlite-queries.ts';

const page = (limit: number, offset: number) =>
  sqliteQueries().selectFrom('videos').select('id').limit(limit).offset(offset).compile();

test('all pages but the first share one statement', () => {
  const pages = Array.from({ length: 100 }, (_, index) => page(25, index * 25));
  expect(new Set(pages.map(({ sql }) => sql)).size).toBe(2);
  expect(pages[0]).toMatchObject({ sql: expect.stringMatching(/ limit 25 offset 0$/), parameters: [] });
  expect(pages[99]).toMatchObject({
    sql: expect.stringMatching(/ limit 25 offset \?$/),
    parameters: [99 * 25],
  });
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, 1.5, 2 ** 60])(
  'a limit that is no count is no literal: %s',
  limit => {
    expect(page(limit, 0)).toMatchObject({ sql: expect.stringContaining(' limit ? '), parameters: [limit] });
  },
);
