export interface EditHistory<Value> {
  readonly value: Value;
  readonly past: readonly Value[];
  /** Undone edits, the next one first. */
  readonly future: readonly Value[];
  /** Identifies what the last edit changed. */
  readonly key: string | undefined;
}

const maxPast = 200;

export function pristine<Value>(value: Value): EditHistory<Value> {
  return { value, past: [], future: [], key: undefined };
}

/** @param key edits in a row with the same key, such as typing in a field, are undone together */
export function edited<Value>(
  { value, past, key: last }: EditHistory<Value>,
  next: Value,
  key?: string,
): EditHistory<Value> {
  const isContinued = key !== undefined && key === last;
  return { value: next, past: isContinued ? past : [...past.slice(1 - maxPast), value], future: [], key };
}

export function undone<Value>(history: EditHistory<Value>): EditHistory<Value> {
  const { value, past, future } = history;
  if (past.length === 0) return history;
  return { value: past.at(-1)!, past: past.slice(0, -1), future: [value, ...future], key: undefined };
}

export function redone<Value>(history: EditHistory<Value>): EditHistory<Value> {
  const { value, past, future } = history;
  if (future.length === 0) return history;
  return { value: future[0]!, past: [...past, value], future: future.slice(1), key: undefined };
}
