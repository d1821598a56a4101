export type Cell = string | number;

/** Prevents formula injection: spreadsheets execute texts that begin like this. */
const formula = /^[=+\-@\t\r]/;

/** Formats a table by RFC 4180, with a byte order mark so that spreadsheets detect UTF-8. */
export function csvOf(heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  return `\uFEFF${[heads, ...rows].map(row => `${row.map(cellText).join(',')}\r\n`).join('')}`;
}

function cellText(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const text = formula.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
