import { describe, expect, it } from 'vitest';
import { pageOf, sortOf } from '../../../../src/http/routing/pagination.ts';

const items = (count: number) => Array.from({ length: count }, (_, index) => index);
const links = (queryText: string, currentPage: number, pageSize: number, total: number) =>
  pageOf(
    { path: '/videos', queryText, query: { currentPage, pageSize } },
    { items: [], total },
  ).pagination.links.map(({ rel, uri }) => `${rel} ${uri}`);

describe('a page', () => {
  it('has the numbers and links of the contract', () => {
    expect(
      pageOf(
        { path: '/videos', queryText: '', query: { currentPage: 2, pageSize: 10 } },
        { items: items(10), total: 37 },
      ).pagination,
    ).toEqual({
      currentPage: 2,
      currentPageItems: 10,
      pageSize: 10,
      pagesTotal: 4,
      itemsTotal: 37,
      links: [
        { rel: 'self', uri: '/videos?currentPage=2&pageSize=10' },
        { rel: 'first', uri: '/videos?currentPage=1&pageSize=10' },
        { rel: 'previous', uri: '/videos?currentPage=1&pageSize=10' },
        { rel: 'next', uri: '/videos?currentPage=3&pageSize=10' },
        { rel: 'last', uri: '/videos?currentPage=4&pageSize=10' },
      ],
    });
  });

  it('that is the only one has no neighbours', () => {
    expect(links('', 1, 25, 25)).toEqual([
      'self /videos?currentPage=1&pageSize=25',
      'first /videos?currentPage=1&pageSize=25',
      'last /videos?currentPage=1&pageSize=25',
    ]);
  });

  it('past the end leads back', () => {
    expect(links('', 9, 10, 37)).toEqual([
      'self /videos?currentPage=9&pageSize=10',
      'first /videos?currentPage=1&pageSize=10',
      'previous /videos?currentPage=8&pageSize=10',
      'last /videos?currentPage=4&pageSize=10',
    ]);
  });

  it('keeps filters as they were sent, before its own parameters', () => {
    const [self] = links('tags%5B%5D=a&pageSize=5&title=x+y&currentPage=1&currentPageX=1', 1, 5, 1);
    expect(self).toBe('self /videos?tags%5B%5D=a&title=x+y&currentPageX=1&currentPage=1&pageSize=5');
  });
});

describe('sorting', () => {
  it.each([
    [{}, { field: 'createdAt', direction: 'desc' }],
    [{ sortOrder: 'asc' as const }, { field: 'createdAt', direction: 'asc' }],
    [{ sortBy: 'name' as const }, { field: 'name', direction: 'asc' }],
    [
      { sortBy: 'name' as const, sortOrder: 'desc' as const },
      { field: 'name', direction: 'desc' },
    ],
  ])('%j', (query, expected) => {
    expect(sortOf<'name' | 'createdAt'>(query, 'createdAt')).toEqual(expected);
  });
});
