/** One measured value beside what it should be. */
export interface Row {
  readonly bench: string;
  readonly what: string;
  readonly measured: string;
  readonly target: string;
  /** The value as a share of its target, or of what it is compared with. */
  readonly ratio: string;
  readonly verdict: 'ok' | 'MISSED' | '';
  /** A ratio that the guard compares with earlier ones. */
  readonly guarded?: { readonly value: number; readonly better: 'higher' | 'lower' };
}

/** A value with its target; without `max` or `min` it is only reported. */
interface Measurement {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly max?: number;
  readonly min?: number;
  /** Set for ratios to something bare in the same run: `npm run bench -- --guard` compares them with earlier ones. */
  readonly better?: 'higher' | 'lower';
}

/** Holds a measurement against its target. */
export function judge(bench: string, { what, value, unit, max, min, better }: Measurement): Row {
  const limit = max ?? min;
  const measured = withUnit(value, unit);
  const guarded = better === undefined ? {} : { guarded: { value, better } };
  if (limit === undefined) return { bench, what, measured, target: '', ratio: '', verdict: '', ...guarded };
  const isMet = max === undefined ? value >= limit : value <= limit;
  return {
    bench,
    what,
    measured,
    target: `${max === undefined ? '≥' : '≤'} ${withUnit(limit, unit)}`,
    ratio: limit === 0 ? '' : `${(value / limit).toFixed(2)} ×`,
    verdict: isMet ? 'ok' : 'MISSED',
    ...guarded,
  };
}

/** Tells why something could not be measured here. */
export function skipped(bench: string, what: string, reason: string): Row {
  return { bench, what, measured: `skipped: ${reason}`, target: '', ratio: '', verdict: '' };
}

/** The rows as a Markdown table. */
export function formatTable(rows: readonly Row[]): string {
  const heads = ['bench', 'what', 'measured', 'target', 'ratio', ''] as const;
  const lines = rows.map(row => [row.bench, row.what, row.measured, row.target, row.ratio, row.verdict]);
  const widths = heads.map((head, column) =>
    Math.max(head.length, ...lines.map(line => line[column]!.length)),
  );
  const format = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`;
  return [format(heads), format(widths.map(width => '-'.repeat(width))), ...lines.map(format)].join('\n');
}

/** The value that `share` (0..1) of `values` do not exceed. NaN when there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

function withUnit(value: number, unit: string): string {
  const digits = Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return `${value.toLocaleString('en-US', { maximumFractionDigits: digits })}${unit === '' ? '' : ` ${unit}`}`;
}
