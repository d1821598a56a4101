/** The page of a list that a caller asks for. */
export interface PageRequest {
  /** From 1. */
  readonly currentPage: number;
  readonly pageSize: number;
}

/** The order of a list. */
export interface Sort<Field extends string> {
  readonly field: Field;
  readonly direction: 'asc' | 'desc';
}

/** The items of one page, and the number of items on all pages. */
export interface ListResult<Item> {
  readonly items: Item[];
  readonly total: number;
}

/** Converts the items of a page. */
export function mapList<Item, Other>(
  { items, total }: ListResult<Item>,
  convert: (item: Item) => Other,
): ListResult<Other> {
  return { items: items.map(item => convert(item)), total };
}
