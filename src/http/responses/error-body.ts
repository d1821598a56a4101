import { AppError, type ErrorCode, errorRegister, type Problem } from '../../shared/errors.ts';

export interface ErrorBody {
  type?: string;
  title: string;
  status: number;
  name?: string;
  detail?: string;
  range?: { readonly min?: number; readonly max?: number };
  /** Why a viewer is refused. */
  reason?: string;
  problems?: ErrorProblem[];
}

interface ErrorProblem {
  type?: string;
  title: string;
  name: string;
  detail?: string;
  range?: { readonly min?: number; readonly max?: number };
}

/** Internal errors say only `Server error`. @param docsBase base of `type`, without a slash at its end */
export function toErrorBody(error: unknown, docsBase: string): ErrorBody {
  if (!(error instanceof AppError) || error.status === 500) return { title: 'Server error', status: 500 };
  const { name, title, detail, range, problems } = error.details;
  const body: ErrorBody = {
    type: `${docsBase}/${error.code}`,
    title: title ?? errorRegister[error.code].title,
    status: error.status,
  };
  if (name !== undefined) body.name = name;
  if (detail !== undefined) body.detail = detail;
  if (range !== undefined) body.range = range;
  if (problems !== undefined) body.problems = problems.map(problem => problemBody(problem, docsBase));
  return body;
}

export function errorBodyFor(code: ErrorCode, status: number, detail: string, docsBase: string): ErrorBody {
  return { type: `${docsBase}/${code}`, title: errorRegister[code].title, status, detail };
}

function problemBody(problem: Problem, docsBase: string): ErrorProblem {
  const { type, ...rest } = problem;
  return type === undefined ? rest : { type: `${docsBase}/${type}`, ...rest };
}
