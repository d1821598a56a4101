import { useRef, useState } from 'preact/hooks';
import { rangeOf } from '../range-of.ts';
import type { RowSelection } from '../table.tsx';

interface Selection<Row> extends RowSelection<Row> {
  /** Selected rows of all pages, as they were shown last. */
  readonly rows: readonly Row[];
  readonly set: (rows: readonly Row[]) => void;
  readonly clear: () => void;
}

/** Keeps the selection while other pages are shown. @param scope of the list; another one clears the selection */
export function useSelection<Row>(
  scope: string,
  shown: readonly Row[],
  keyOf: (row: Row) => string,
  labelOf: (row: Row) => string,
): Selection<Row> {
  const [state, setState] = useState<{ scope: string; rows: ReadonlyMap<string, Row> }>({
    scope,
    rows: new Map(),
  });
  const anchor = useRef<string>(undefined);
  const kept: ReadonlyMap<string, Row> = state.scope === scope ? state.rows : new Map();
  const fresh = new Map(shown.map(row => [keyOf(row), row]));
  const set = (rows: Iterable<Row>) =>
    setState({ scope, rows: new Map([...rows].map(row => [keyOf(row), row])) });
  const change = (rows: readonly Row[], isSelected: boolean) => {
    const next = new Map(kept);
    for (const row of rows) {
      if (isSelected) next.set(keyOf(row), row);
      else next.delete(keyOf(row));
    }
    set(next.values());
  };
  return {
    rows: [...kept].map(([key, row]) => fresh.get(key) ?? row),
    has: row => kept.has(keyOf(row)),
    labelOf,
    onToggle: (row, isSelected, isRange) => {
      const keys = rangeOf([...fresh.keys()], isRange ? anchor.current : undefined, keyOf(row));
      anchor.current = keyOf(row);
      change(
        keys.map(key => fresh.get(key) ?? row),
        isSelected,
      );
    },
    onToggleAll: isSelected => change(shown, isSelected),
    set,
    clear: () => set([]),
  };
}
