import { useRef, useState } from 'preact/hooks';
import { type ApiProblem, problemOf } from '../../api/problem.ts';

export interface Submission {
  readonly busy: boolean;
  readonly problem: ApiProblem | undefined;
  /** The problem, unless fields show all of it. */
  readonly notice: ApiProblem | undefined;
  /** The error of the field for an attribute. */
  errorOf(attribute: string): string | undefined;
  submit(event?: Event): void;
  clear(): void;
}

/** @param fieldOf names the field of an attribute; the attribute, or the list that it belongs to, unless given */
export function useSubmit(
  work: () => Promise<unknown>,
  fieldOf: (attribute: string) => string = attribute => attribute.replace(/\[\d+\]$/, ''),
): Submission {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiProblem>();
  const running = useRef(false);
  const fields = useRef(new Set<string>());
  const isOnFields = problem?.problems.every(({ attribute }) => fields.current.has(fieldOf(attribute)));
  return {
    busy,
    problem,
    notice: isOnFields === true ? undefined : problem,
    errorOf: attribute => {
      fields.current.add(attribute);
      return problem?.problems.find(one => fieldOf(one.attribute) === attribute)?.text;
    },
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
