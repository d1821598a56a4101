import { AppError } from '../../shared/errors.ts';

export const scopes = ['read', 'upload', 'live', 'admin'] as const;

/** A part of the API that a credential can use. */
export type Scope = (typeof scopes)[number];

export const allScopes: ReadonlySet<Scope> = new Set(scopes);

/** `admin` includes all other scopes, since it can create keys that have them. */
export function scopeSet(given: readonly Scope[]): ReadonlySet<Scope> {
  return given.includes('admin') ? allScopes : new Set(given);
}

/** Lists scopes in the order of {@link scopes}. */
export function listScopes(given: ReadonlySet<Scope>): Scope[] {
  return scopes.filter(scope => given.has(scope));
}

/** @throws AppError `authorization-insufficient-scope` */
export function requireScope(caller: { readonly scopes: ReadonlySet<Scope> }, scope: Scope): void {
  if (caller.scopes.has(scope)) return;
  const detail = `This needs the scope "${scope}". Use an API key that has it. People get scopes from their role: ask an owner of the account.`;
  throw new AppError('authorization-insufficient-scope', undefined, { details: { detail } });
}
