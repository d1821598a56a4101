import { useRef, useState } from 'preact/hooks';
import { type ApiProblem, problemOf } from '../../api/problem.ts';

export interface Submission {
  readonly busy: boolean;
  readonly problem: ApiProblem | undefined;
  errorOf(attribute: string): string | undefined;
  submit(event?: Event): void;
  clear(): void;
}

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
