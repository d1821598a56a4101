import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, isAbort, problemOf } from '../api/problem.ts';

/** Something that a page shows and the server has. */
export interface Loaded<Value> {
  /** The newest that is known; while something else is loaded, what was shown before. */
  readonly value: Value | undefined;
  readonly problem: ApiProblem | undefined;
  readonly isLoading: boolean;
  /** Asks again; what is shown stays meanwhile. */
  reload(): void;
  /** Shows this from now on: the answer of a change that was made here. */
  set(value: Value): void;
}

/**
 * Loads what a page shows, again whenever `key` changes, and gives up what is no longer wanted.
 *
 * @param key says what is loaded: all that `load` depends on
 */
export function useLoad<Value>(key: string, load: (signal: AbortSignal) => Promise<Value>): Loaded<Value> {
  const [state, setState] = useState<{ value?: Value; problem?: ApiProblem; isLoading: boolean }>({
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  // The key stands for what is loaded, the round for asking again.
  useEffect(() => {
    const abort = new AbortController();
    setState(before => ({ ...before, isLoading: true }));
    latest.current(abort.signal).then(
      value => {
        if (!abort.signal.aborted) setState({ value, isLoading: false });
      },
      (error: unknown) => {
        if (abort.signal.aborted || isAbort(error)) return;
        setState(({ value }) => ({
          ...(value === undefined ? {} : { value }),
          problem: problemOf(error),
          isLoading: false,
        }));
      },
    );
    return () => abort.abort();
  }, [key, round]);
  return {
    value: state.value,
    problem: state.problem,
    isLoading: state.isLoading,
    reload: useCallback(() => setRound(number => number + 1), []),
    set: useCallback((value: Value) => setState({ value, isLoading: false }), []),
  };
}
