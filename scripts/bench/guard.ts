import type { Row } from './report.ts';

/** A ratio to something bare that was measured in the same run, so that the speed of the machine matters little. */
interface Ratio {
  /** Name of the benchmark, as `--only` takes it. */
  readonly bench: string;
  readonly what: string;
  readonly value: number;
  readonly better: 'higher' | 'lower';
}

/** The ratios of `docs/benchmarks.json`. */
export interface Baseline {
  /** Machine and date, for people. */
  readonly measured: string;
  readonly ratios: readonly Ratio[];
}

interface GuardOptions {
  /** Names of benchmarks. */
  readonly names: readonly string[];
  run(name: string): Promise<readonly Row[]>;
  readonly baseline: Baseline;
  print(text: string): void;
}

interface GuardResult {
  readonly ratios: readonly Ratio[];
  /** 1 when a ratio is worse than in the baseline, or was not measured. */
  readonly exitCode: 0 | 1;
}

const maxWorsePercent = 15;

/** Compares the ratios of benchmarks with a baseline. Runs a benchmark again when one is worse, and takes the better value. */
export async function runGuard({ names, run, baseline, print }: GuardOptions): Promise<GuardResult> {
  const ratios: Ratio[] = [];
  for (const name of names) {
    const first = ratiosOf(name, await run(name));
    const isWorse = problemsOf(first, baseline, first).length > 0;
    ratios.push(...(isWorse ? betterOf(first, ratiosOf(name, await run(name))) : first));
  }
  print(formatRatios(ratios));
  const expected = baseline.ratios.filter(({ bench }) => names.includes(bench));
  const problems = problemsOf(ratios, baseline, expected);
  for (const problem of problems) print(problem);
  return { ratios, exitCode: problems.length === 0 ? 0 : 1 };
}

/** Finds what {@link formatBaseline} wrote, with the line in front of the table. */
export const ratioTable = /^Ratios of .*\n\n\| bench \| ratio \| value \| \|\n(?:\|.*(?:\n|$))+/m;

export function formatBaseline({ measured, ratios }: Baseline): string {
  return `Ratios of ${measured}:\n\n${formatRatios(ratios)}\n`;
}

function formatRatios(ratios: readonly Ratio[]): string {
  const lines = ratios.map(
    ({ bench, what, value, better }) => `| ${bench} | ${what} | ${value} | ${better} is better |`,
  );
  return ['| bench | ratio | value | |', '| --- | --- | --- | --- |', ...lines].join('\n');
}

function ratiosOf(bench: string, rows: readonly Row[]): Ratio[] {
  return rows.flatMap(({ what, guarded }) =>
    guarded === undefined
      ? []
      : [{ bench, what, value: Number(guarded.value.toPrecision(3)), better: guarded.better }],
  );
}

/** @param expected those that must have been measured, of which the baseline may lack some */
function problemsOf(
  ratios: readonly Ratio[],
  baseline: Baseline,
  expected: readonly Pick<Ratio, 'bench' | 'what'>[],
): string[] {
  return expected.flatMap(one => {
    const before = find(baseline.ratios, one);
    const now = find(ratios, one);
    const row = `${one.bench}: ${one.what}`;
    if (before === undefined) return [];
    if (now === undefined || Number.isNaN(now.value)) return [`${row} was not measured.`];
    const percent = worsePercent(before, now.value);
    if (percent <= maxWorsePercent) return [];
    return [`${row} is ${now.value}, ${Math.round(percent)} % worse than ${before.value}.`];
  });
}

function worsePercent({ value, better }: Ratio, now: number): number {
  return 100 * (better === 'lower' ? now / value - 1 : value / now - 1);
}

function betterOf(first: readonly Ratio[], second: readonly Ratio[]): Ratio[] {
  return first.map(one => {
    const other = find(second, one);
    return other !== undefined && worsePercent(one, other.value) < 0 ? other : one;
  });
}

function find(ratios: readonly Ratio[], { bench, what }: Pick<Ratio, 'bench' | 'what'>): Ratio | undefined {
  return ratios.find(each => each.bench === bench && each.what === what);
}
