import type { ApiProblem } from '../../api/problem.ts';
import { problemText } from '../../format/problem-text.ts';
import { Notice } from '../notice.tsx';

export function ProblemNotice({ problem }: { problem: ApiProblem | undefined }) {
  if (problem === undefined) return null;
  return <Notice tone="bad">{problemText(problem)}</Notice>;
}
