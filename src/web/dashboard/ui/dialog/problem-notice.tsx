import type { ApiProblem } from '../../api/problem.ts';
import { Notice } from '../notice.tsx';

export function ProblemNotice({ problem }: { problem: ApiProblem | undefined }) {
  if (problem === undefined) return null;
  return <Notice tone="bad">{problem.text}</Notice>;
}
