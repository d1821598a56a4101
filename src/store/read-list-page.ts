import type { Selectable, SelectQueryBuilder } from 'kysely';
import type { ListResult, PageRequest, Sort } from '../shared/list-page.ts';
import type { Connection } from './connection.ts';
import type { Tables } from './tables.ts';

type ListedTable = 'live_streams' | 'players' | 'upload_tokens' | 'watermarks';

/** Skipping rows is cheap only in the index, so the ids of the page are found first. */
export async function readListPage<Table extends ListedTable, Item>(
  connection: Connection,
  list: {
    readonly table: Table;
    readonly matching: SelectQueryBuilder<Tables, Table, object>;
    readonly id: keyof Tables[Table] & string;
    readonly sort: Sort<keyof Tables[Table] & string>;
    readonly page: PageRequest;
    readonly total: number;
    readonly toItem: (row: Selectable<Tables[Table]>) => Item;
  },
): Promise<ListResult<Item>> {
  const { total, page, sort, toItem } = list;
  const offset = (page.currentPage - 1) * page.pageSize;
  if (offset >= total) return { items: [], total };
  // Every table of such a list has these columns by other names; Kysely cannot type the columns of a table
  // that is a parameter.
  const id = list.id as 'id';
  const column = sort.field as 'created_at_ms';
  const matching = list.matching as unknown as SelectQueryBuilder<Tables, 'players', object>;
  const ids = matching
    .select(id)
    .orderBy(column, sort.direction)
    .orderBy(id, sort.direction)
    .limit(page.pageSize)
    .offset(offset);
  const rows = await connection.all(
    connection.queries
      .selectFrom(list.table as 'players')
      .selectAll()
      .where(id, 'in', ids)
      .orderBy(column, sort.direction)
      .orderBy(id, sort.direction),
  );
  return { items: rows.map(row => toItem(row as unknown as Selectable<Tables[Table]>)), total };
}
