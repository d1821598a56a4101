import type { ComponentChildren } from 'preact';

export interface Column<Row> {
  readonly head: string;
  readonly cell: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
  readonly isActions?: boolean;
}

export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
}) {
  return (
    <div class="table-frame">
      <table class="table">
        <caption class="for-readers">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ head, isNumber = false, isActions = false }) => (
              <th key={head} scope="col" class={isNumber ? 'number' : undefined}>
                {isActions ? <span class="for-readers">{head}</span> : head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(row => (
            <tr key={keyOf(row)}>
              {columns.map(({ head, cell, isNumber = false, isActions = false }) => (
                <td
                  key={head}
                  data-head={isActions ? '' : head}
                  class={isNumber ? 'number' : isActions ? 'row-actions' : undefined}
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
