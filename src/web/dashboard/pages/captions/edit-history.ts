export interface EditHistory<Value> {
  readonly value: Value;
  readonly past: readonly Value[];
  /** Identifies what the last edit changed. */
  readonly key: string | undefined;
}

const maxPast = 200;

/** @param key edits in a row with the same key, such as typing in a field, are undone together */
export function edited<Value>(
  { value, past, key: last }: EditHistory<Value>,
  next: Value,
  key?: string,
): EditHistory<Value> {
  const isContinued = key !== undefined && key === last;
  return { value: next, past: isContinued ? past : [...past.slice(1 - maxPast), value], key };
}

export function undone<Value>({ value, past }: EditHistory<Value>): EditHistory<Value> {
  return { value: past.at(-1) ?? value, past: past.slice(0, -1), key: undefined };
}
