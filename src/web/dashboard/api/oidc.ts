import { call } from './client.ts';
import { openSession } from './sessions.ts';

const returnKey = 'millrace.return';

/** The provider sends the browser back here. */
export function isOidcReturn(): boolean {
  return location.pathname === '/dashboard/sign-in/oidc';
}

/** Leaves for the page of the provider. @throws ApiProblem */
export async function startOidcSignIn(): Promise<void> {
  const { url } = await call('POST /auth/oidc-request');
  if (!isOidcReturn()) sessionStorage.setItem(returnKey, location.pathname + location.search + location.hash);
  location.assign(url);
}

/** @param query of the redirect address @throws ApiProblem */
export async function finishOidcSignIn(query: string): Promise<void> {
  openSession(await call('POST /auth/oidc', { body: { query } }));
}

/** The page from which the sign-in started. */
export function returnPath(): string {
  const path = sessionStorage.getItem(returnKey) ?? '';
  return /^\/dashboard(?:[/?#]|$)/.test(path) ? path : '/dashboard';
}
