const width = 100;
const top = 2;
const bottom = 31;

/**
 * Paths in a box of 100 by 32. A line breaks where nothing is known; the scale begins at 0. `partial` leads to the last
 * value.
 */
export function sparklinePaths(
  values: readonly (number | null)[],
  minScaleMax: number,
  isLastPartial = false,
): { readonly line: string; readonly area: string; readonly partial: string } {
  const max = Math.max(minScaleMax, ...values.filter(value => value !== null));
  const step = width / Math.max(1, values.length - 1);
  const lines: string[][] = [];
  let current: string[] | undefined;
  for (const [index, value] of values.entries()) {
    if (value === null) current = undefined;
    else {
      if (current === undefined) {
        current = [];
        lines.push(current);
      }
      current.push(`${rounded(index * step)} ${rounded(bottom - (value / max) * (bottom - top))}`);
    }
  }
  const area = lines.map(
    points => `M${xOf(points[0]!)} ${bottom}L${points.join('L')}L${xOf(points.at(-1)!)} ${bottom}z`,
  );
  const [from, to] = isLastPartial ? (lines.at(-1)?.slice(-2) ?? []) : [];
  if (to !== undefined) lines.at(-1)!.pop();
  return {
    line: lines.map(points => `M${points.join('L')}`).join(''),
    area: area.join(''),
    partial: to === undefined ? '' : `M${from}L${to}`,
  };
}

function xOf(point: string): string {
  return point.split(' ')[0]!;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
