import { resolve, sep } from 'node:path';
import { AppError } from '../errors.ts';

/** @throws AppError `path-outside-root` */
export function joinBelow(root: string, ...parts: string[]): string {
  const base = resolve(root);
  const joined = resolve(base, ...parts);
  if (joined !== base && !joined.startsWith(base + sep)) {
    throw new AppError('path-outside-root', `${parts.join('/')} leads outside ${base}`);
  }
  return joined;
}
