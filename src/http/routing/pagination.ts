import * as z from 'zod';
import type { ListResult, PageRequest, Sort } from '../../shared/list-page.ts';

export const pagingLimits = { defaultPageSize: 25, maxPageSize: 100, maxCurrentPage: 2_147_483_647 } as const;

/** @param sortFields empty for lists that cannot be sorted */
export function listQuery<Filters extends z.ZodRawShape, const Fields extends readonly string[]>(
  filters: Filters,
  sortFields: Fields,
) {
  return z.strictObject({
    ...filters,
    sortBy: z.enum(sortFields).optional().describe('Field to sort by. Newest first when absent.'),
    sortOrder: z.enum(['asc', 'desc']).optional().describe('Direction of `sortBy`; ascending when absent.'),
    currentPage: z
      .int()
      .min(1)
      .max(pagingLimits.maxCurrentPage)
      .default(1)
      .describe('Number of the page; the first is 1.'),
    pageSize: z
      .int()
      .min(1)
      .max(pagingLimits.maxPageSize)
      .default(pagingLimits.defaultPageSize)
      .describe('Items on a page.'),
  });
}

export function sortOf<Field extends string>(
  query: { sortBy?: Field | undefined; sortOrder?: 'asc' | 'desc' | undefined },
  newest: Field,
): Sort<Field> {
  if (query.sortBy === undefined) return { field: newest, direction: query.sortOrder ?? 'desc' };
  return { field: query.sortBy, direction: query.sortOrder ?? 'asc' };
}

const linkSchema = z.object({
  rel: z.enum(['self', 'first', 'previous', 'next', 'last']),
  uri: z.string().meta({ examples: ['/live-streams?currentPage=1&pageSize=25'] }),
});

export const paginationSchema = z
  .object({
    currentPage: z.int(),
    currentPageItems: z.int().describe('Items on this page.'),
    pageSize: z.int(),
    pagesTotal: z.int(),
    itemsTotal: z.int().describe('Items on all pages, after the filters.'),
    links: z.array(linkSchema),
  })
  .meta({ id: 'Pagination' });

export function listSchema<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), pagination: paginationSchema });
}

export interface Page<Item> {
  data: Item[];
  pagination: z.infer<typeof paginationSchema>;
}

export function pageOf<Item>(
  request: { readonly path: string; readonly queryText: string; readonly query: PageRequest },
  { items, total: itemsTotal }: ListResult<Item>,
): Page<Item> {
  const { currentPage, pageSize } = request.query;
  const pagesTotal = Math.max(1, Math.ceil(itemsTotal / pageSize));
  const filters = request.queryText
    .split('&')
    .filter(pair => pair !== '' && !/^(?:currentPage|pageSize)(?:=|$)/.test(pair))
    .map(pair => `${pair}&`)
    .join('');
  const link = (rel: 'self' | 'first' | 'previous' | 'next' | 'last', number: number) => ({
    rel,
    uri: `${request.path}?${filters}currentPage=${number}&pageSize=${pageSize}`,
  });
  const links = [link('self', currentPage), link('first', 1)];
  if (currentPage > 1) links.push(link('previous', currentPage - 1));
  if (currentPage < pagesTotal) links.push(link('next', currentPage + 1));
  links.push(link('last', pagesTotal));
  return {
    data: items,
    pagination: { currentPage, currentPageItems: items.length, pageSize, pagesTotal, itemsTotal, links },
  };
}
