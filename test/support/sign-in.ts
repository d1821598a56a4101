import { randomBytes, scryptSync } from 'node:crypto';
import { type EmailAddress, readEmail } from '../../src/shared/email-address.ts';
import type { TestApi } from './start-api.ts';

/** Credentials for signing in. */
export interface SignInCredentials {
  readonly email: string;
  readonly password: string;
}

/** User of the first account of `startApi`. */
export const admin: SignInCredentials = { email: 'admin@localhost', password: 'a password of tests' };

/** Signs in; what a browser sends as `Cookie` from then on. */
export async function signIn(
  { call }: Pick<TestApi, 'call'>,
  who: SignInCredentials = admin,
): Promise<string> {
  const answer = await call('POST', '/auth/session', { key: null, body: who });
  if (answer.status !== 201) throw new Error(`nobody is signed in: ${answer.status} ${answer.text}`);
  return answer.headers.get('set-cookie')!.split(';')[0]!;
}

/** Adds somebody who may sign in to an account. */
export async function addUser(
  { api, database }: Pick<TestApi, 'api' | 'database'>,
  accountId: string,
  { email, password, isVerified = true }: SignInCredentials & { isVerified?: boolean },
): Promise<void> {
  const passwordHash = cheapHash(password);
  const role = 'owner';
  const user = {
    accountId,
    email: emailOf(email),
    isVerified,
    passwordHash,
    createdAtMs: Date.now(),
    role,
  } as const;
  await database.transaction(transaction => api.accounts.addUser(user, transaction));
}

export function emailOf(text: string): EmailAddress {
  const { email, problem } = readEmail(text);
  if (email === undefined) throw new Error(`${text}: ${problem}`);
  return email;
}

const hashes = new Map<string, string>();

/** A password as it is stored, in a hundredth of the time, and once for all servers of a worker. */
export function cheapHash(password: string): string {
  const known = hashes.get(password);
  if (known !== undefined) return known;
  const [N, r, p] = [256, 8, 1];
  const salt = randomBytes(16);
  const key = scryptSync(password, salt, 32, { N, r, p });
  const hash = ['scrypt', N, r, p, salt.toString('base64url'), key.toString('base64url')].join('$');
  hashes.set(password, hash);
  return hash;
}
