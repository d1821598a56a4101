export interface PageRequest {
  /** Number of the page, from 1. */
  readonly currentPage: number;
  readonly pageSize: number;
}

export interface Sort<Field extends string> {
  readonly field: Field;
  readonly direction: 'asc' | 'desc';
}

export interface ListResult<Item> {
  readonly items: Item[];
  readonly total: number;
}

export function mapList<Item, Other>(
  { items, total }: ListResult<Item>,
  convert: (item: Item) => Other,
): ListResult<Other> {
  return { items: items.map(item => convert(item)), total };
}
