import { resolve, sep } from 'node:path';
import { AppError } from '../errors.ts';

/**
 * Joins `parts` below `root`.
 *
 * @throws AppError `path-outside-root` when the result is not below `root`.
 */
export function joinBelow(root: string, ...parts: string[]): string {
  const base = resolve(root);
  const joined = resolve(base, ...parts);
  if (joined !== base && !joined.startsWith(base + sep)) {
    throw new AppError('path-outside-root', `${parts.join('/')} leads outside ${base}`);
  }
  return joined;
}
