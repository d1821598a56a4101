import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../texts/shell.ts';
import { Icon } from './icon.tsx';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  readonly isActions?: boolean;
  /** Class of its cells. */
  readonly look?: string;
  /** The field that it sorts by, and the direction in which it sorts first. */
  readonly sort?: { readonly field: string; readonly direction: SortDirection };
}

export type SortDirection = 'asc' | 'desc';

export interface TableSort {
  /** Undefined if rows are in an order without a column. */
  readonly field: string | undefined;
  readonly direction: SortDirection;
  readonly onSort: (field: string, direction: SortDirection) => void;
}

export interface RowSelection<Row> {
  readonly has: (row: Row) => boolean;
  readonly labelOf: (row: Row) => string;
  /** `isRange`: with all rows since the last one that was clicked. */
  readonly onToggle: (row: Row, isSelected: boolean, isRange: boolean) => void;
  readonly onToggleAll: (isSelected: boolean) => void;
}

export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  sort,
  selection,
  look = '',
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  sort?: TableSort;
  selection?: RowSelection<Row> | undefined;
  /** Class of a table with styles of its own. */
  look?: string;
}) {
  return (
    <div class="table-frame">
      <table class={`table ${look}`}>
        <caption class="for-readers">{caption}</caption>
        <thead>
          <tr>
            {selection !== undefined && (
              <th scope="col" class="cell-select">
                <SelectAll rows={rows} selection={selection} />
              </th>
            )}
            {columns.map(column => (
              <Head key={column.head} column={column} sort={sort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={keyOf(row)} class={selection?.has(row) === true ? 'selected' : undefined}>
              {selection !== undefined && (
                <td class="cell-select" data-head="">
                  <SelectRow row={row} selection={selection} />
                </td>
              )}
              {columns.map(({ head, cell, isNumber = false, isActions = false, look: cellLook = '' }) => (
                <td
                  key={head}
                  data-head={isActions ? '' : head}
                  class={
                    `${isNumber ? 'number' : isActions ? 'row-actions' : ''} ${cellLook}`.trim() || undefined
                  }
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const ariaSort = { asc: 'ascending', desc: 'descending' } as const;

function Head<Row>({
  column: { head, isNumber = false, isActions = false, look = '', sort: own },
  sort,
}: {
  column: Column<Row>;
  sort: TableSort | undefined;
}) {
  const className = `${isNumber ? 'number' : ''} ${look}`.trim() || undefined;
  if (own === undefined || sort === undefined) {
    return (
      <th scope="col" class={className}>
        {isActions ? <span class="for-readers">{head}</span> : head}
      </th>
    );
  }
  const isSorted = sort.field === own.field;
  const next = isSorted ? (sort.direction === 'asc' ? 'desc' : 'asc') : own.direction;
  return (
    <th scope="col" class={className} aria-sort={isSorted ? ariaSort[sort.direction] : 'none'}>
      <button type="button" class="sort-button" onClick={() => sort.onSort(own.field, next)}>
        {head}
        <Icon name={(isSorted ? sort.direction : own.direction) === 'asc' ? 'up' : 'down'} size={15} />
      </button>
    </th>
  );
}

function SelectAll<Row>({
  rows,
  selection: { has, onToggleAll },
}: {
  rows: readonly Row[];
  selection: RowSelection<Row>;
}) {
  const box = useRef<HTMLInputElement>(null);
  const count = rows.filter(has).length;
  const isAll = rows.length > 0 && count === rows.length;
  useEffect(() => {
    box.current!.indeterminate = count > 0 && !isAll;
  }, [count, isAll]);
  return (
    <label class="select-box">
      <input
        ref={box}
        type="checkbox"
        aria-label={t('list.selectAll')}
        checked={isAll}
        onChange={({ currentTarget }) => onToggleAll(currentTarget.checked)}
      />
    </label>
  );
}

export function SelectRow<Row>({ row, selection }: { row: Row; selection: RowSelection<Row> }) {
  const { has, labelOf, onToggle } = selection;
  return (
    // The label makes the target larger than the box.
    <label class="select-box">
      <input
        type="checkbox"
        aria-label={t('list.select', { name: labelOf(row) })}
        checked={has(row)}
        // Clicks know the Shift key, also those that the space bar makes.
        onClick={event => onToggle(row, event.currentTarget.checked, event.shiftKey)}
      />
    </label>
  );
}
