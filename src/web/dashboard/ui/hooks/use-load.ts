import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, isAbort, problemOf } from '../../api/problem.ts';

/** Something that a page shows and the server has. */
export interface Loaded<Value> {
  /** The newest that is known; while something else is loaded, what was shown before. */
  readonly value: Value | undefined;
  readonly problem: ApiProblem | undefined;
  readonly isLoading: boolean;
  /** Asks again; what is shown stays meanwhile. */
  reload(): void;
  /** Shows this from now on: the answer of a change that was made here. What is being asked for may be older, and is asked for again. */
  set(value: Value): void;
}

interface State<Value> {
  /** Of what is shown or asked for. */
  readonly key: string;
  readonly value?: Value;
  readonly problem?: ApiProblem;
  readonly isLoading: boolean;
}

/**
 * Loads what a page shows, again whenever `key` changes, and gives up what is no longer wanted.
 *
 * @param key says what is loaded: all that `load` depends on
 */
export function useLoad<Value>(key: string, load: (signal: AbortSignal) => Promise<Value>): Loaded<Value> {
  const [state, setState] = useState<State<Value>>({ key, isLoading: true });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const asking = useRef<AbortController | undefined>(undefined);
  // The key stands for what is loaded, the round for asking again.
  useEffect(() => {
    const abort = new AbortController();
    asking.current = abort;
    setState(before => ({ ...before, key, isLoading: true }));
    latest.current(abort.signal).then(
      value => {
        if (abort.signal.aborted) return;
        asking.current = undefined;
        setState({ key, value, isLoading: false });
      },
      (error: unknown) => {
        if (abort.signal.aborted || isAbort(error)) return;
        asking.current = undefined;
        setState(({ value }) => ({
          ...(value === undefined ? {} : { value }),
          key,
          problem: problemOf(error),
          isLoading: false,
        }));
      },
    );
    return () => abort.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound(number => number + 1), []);
  return {
    value: state.value,
    problem: state.problem,
    // Asking for what another key stands for begins after it is painted.
    isLoading: state.isLoading || state.key !== key,
    reload,
    set: useCallback((value: Value) => {
      setState(before => ({ key: before.key, value, isLoading: false }));
      if (asking.current === undefined) return;
      asking.current.abort();
      reload();
    }, []),
  };
}
