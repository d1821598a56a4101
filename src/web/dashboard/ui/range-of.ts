/** Keys between two of a list, in whatever order. Only the second one where the first is not in the list. */
export function rangeOf(keys: readonly string[], from: string | undefined, to: string): readonly string[] {
  const start = from === undefined ? -1 : keys.indexOf(from);
  const end = keys.indexOf(to);
  if (start < 0 || end < 0) return [to];
  return keys.slice(Math.min(start, end), Math.max(start, end) + 1);
}
