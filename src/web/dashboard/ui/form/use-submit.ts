import { useRef, useState } from 'preact/hooks';
import { type ApiProblem, problemOf } from '../../api/problem.ts';

/** How it stands with something that a person asked for. */
export interface Submission {
  readonly busy: boolean;
  /** Why it did not work the last time. */
  readonly problem: ApiProblem | undefined;
  /** What is wrong with an attribute, for its field. */
  errorOf(attribute: string): string | undefined;
  /** Does it, unless it is under way already. An `event` of a form is kept from loading a page. */
  submit(event?: Event): void;
  /** Forgets the problem. */
  clear(): void;
}

/** Runs what a form or button asks for, one at a time, and keeps what the API said against it. */
export function useSubmit(work: () => Promise<unknown>): Submission {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();
  const running = useRef(false);
  return {
    busy,
    problem,
    errorOf: attribute => problem?.problems.find(one => one.attribute === attribute)?.text,
    submit: event => {
      event?.preventDefault();
      if (running.current) return;
      running.current = true;
      setBusy(true);
      setProblem(undefined);
      work()
        .catch((error: unknown) => setProblem(problemOf(error)))
        .finally(() => {
          running.current = false;
          setBusy(false);
        });
    },
    clear: () => setProblem(undefined),
  };
}
