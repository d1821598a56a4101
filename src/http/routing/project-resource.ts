import { AppError } from '../../shared/errors.ts';
import type { Caller } from './caller.ts';

/** Answers 404 unless the caller's project has the resource. @param param name of the id in the path */
export function projectResource<const Param extends string, Resource>(
  tag: string,
  [param, description]: readonly [Param, string],
  find: (projectId: string, id: string) => Promise<Resource | undefined>,
) {
  return {
    tag,
    auth: 'key',
    params: { [param]: description } as Record<Param, string>,
    find: ({ params, caller }: { params: Readonly<Record<Param, string>>; caller: Caller }) =>
      find(caller.projectId, params[param]),
  } as const;
}

export function notFoundError(name: string, cause?: unknown): AppError {
  return new AppError('resource-not-found', undefined, { details: { name }, cause });
}
