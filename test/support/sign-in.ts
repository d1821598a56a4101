import { hashPassword } from '../../src/resources/accounts/password.ts';
import type { RunningApi } from './start-api.ts';

/** What somebody signs in with. */
export interface SignIn {
  readonly email: string;
  readonly password: string;
}

/** Who may sign in to the first account of `startApi`. */
export const admin: SignIn = { email: 'admin@localhost', password: 'a password of tests' };

/** Signs in; what a browser sends as `Cookie` from then on. */
export async function signIn({ call }: Pick<RunningApi, 'call'>, who: SignIn = admin): Promise<string> {
  const answer = await call('POST', '/auth/session', { key: null, body: who });
  if (answer.status !== 201) throw new Error(`nobody is signed in: ${answer.status} ${answer.text}`);
  return answer.headers.get('set-cookie')!.split(';')[0]!;
}

/** Adds somebody who may sign in to an account. */
export async function addUser(
  { api }: Pick<RunningApi, 'api'>,
  accountId: string,
  { email, password }: SignIn,
): Promise<void> {
  const passwordHash = await hashPassword(password);
  api.accounts.addUser({ accountId, email, passwordHash, createdAtMs: Date.now() });
}
