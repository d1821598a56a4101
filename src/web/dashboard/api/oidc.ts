import { withoutBasePath } from '../../shared/base-path.ts';
import type { RemovedCredentials } from './api-types.ts';
import { call } from './client.ts';
import { invitationTokenOf } from './invitation-link.ts';
import { openSession } from './sessions.ts';

const returnKey = 'millrace.return';

/** The provider sends the browser back here. */
export function isOidcReturn(): boolean {
  return withoutBasePath(location.pathname) === '/dashboard/sign-in/oidc';
}

/** Leaves for the page of the provider. @throws ApiProblem */
export async function startOidcSignIn(): Promise<void> {
  const { url } = await call('POST /auth/oidc-request');
  const { pathname, search, hash } = location;
  if (!isOidcReturn()) sessionStorage.setItem(returnKey, withoutBasePath(pathname) + search + hash);
  location.assign(url);
}

/**
 * Accepts the invitation, too, if the sign-in started from its page.
 * @param query of the redirect address
 * @returns what ended because the address of the person is verified now
 * @throws ApiProblem
 */
export async function finishOidcSignIn(query: string): Promise<RemovedCredentials | undefined> {
  const token = invitationTokenOf(returnPath());
  const invitation = token === undefined ? {} : { invitationToken: token };
  const session = await call('POST /auth/oidc', { body: { query, ...invitation } });
  openSession(session);
  // The token is accepted, so its page is gone.
  if (token !== undefined) sessionStorage.removeItem(returnKey);
  return session.removedCredentials;
}

/** The page from which the sign-in started. */
export function returnPath(): string {
  const path = sessionStorage.getItem(returnKey) ?? '';
  return /^\/dashboard(?:[/?#]|$)/.test(path) ? path : '/dashboard';
}
