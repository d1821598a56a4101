/** What stands in a cell of a table. */
export type Cell = string | number;

/** Texts that begin so are formulas to spreadsheets; some of what is told comes from strangers. */
const formula = /^[=+\-@\t\r]/;

/** A table as CSV by RFC 4180, with a mark of its encoding so that spreadsheets read it right. */
export function csvOf(heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return `\uFEFF${[heads, ...rows].map(row => `${row.map(cellText).join(',')}\r\n`).join('')}`;
}

function cellText(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const text = formula.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
