import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { type ApiProblem, isAbort, problemOf } from '../../api/problem.ts';
import { isAway, whenServerReturns } from '../../api/server-return.ts';

export interface Loaded<Value> {
  /** Stays while another key is loaded. */
  readonly value: Value | undefined;
  readonly problem: ApiProblem | undefined;
  readonly isLoading: boolean;
  reload(): void;
  /** Shows the answer of a change. A running request may be older and is repeated. */
  set(value: Value): void;
}

interface State<Value> {
  readonly key: string;
  readonly value?: Value;
  readonly problem?: ApiProblem;
  readonly isLoading: boolean;
}

/** Loads again when `key` changes; it identifies everything that `load` depends on. Retries when the server was away. */
export function useLoad<Value>(key: string, load: (signal: AbortSignal) => Promise<Value>): Loaded<Value> {
  const [state, setState] = useState<State<Value>>({ key, isLoading: true });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  const asking = useRef<AbortController | undefined>(undefined);
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
          value,
          key,
          problem: problemOf(error),
          isLoading: false,
        }));
      },
    );
    return () => abort.abort();
  }, [key, round]);
  const reload = useCallback(() => setRound(number => number + 1), []);
  const { problem } = state;
  useEffect(() => {
    if (problem !== undefined && isAway(problem)) return whenServerReturns(reload);
  }, [problem]);
  return {
    value: state.value,
    problem: state.problem,
    // The request for a new key starts after the paint.
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
