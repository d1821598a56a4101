import { Secret, TOTP } from 'otpauth';
import { runSql } from './sql.ts';
import type { TestApi } from './start-api.ts';

/** Code that an authenticator app shows. */
export function codeOf(secret: string, atMs = Date.now()): string {
  return TOTP.generate({ secret: Secret.fromBase32(secret), timestamp: atMs });
}

/** Starts to set two-factor sign-in up; what an authenticator app would show for it. */
export async function beginTwoFactor({ call }: Pick<TestApi, 'call'>, cookie: string, password: string) {
  const { json, text } = await call('POST', '/account/two-factor', {
    key: null,
    headers: { cookie },
    body: { password },
  });
  if (json?.secret === undefined) throw new Error(`two-factor sign-in did not begin: ${text}`);
  return { secret: json.secret as string, uri: json.uri as string };
}

/** Turns two-factor sign-in on for whom the cookie is of. */
export async function enableTwoFactor(
  api: Pick<TestApi, 'call'>,
  cookie: string,
  { password, atMs }: { password: string; atMs?: number },
): Promise<{ cookie: string; secret: string; recoveryCodes: string[] }> {
  const { secret } = await beginTwoFactor(api, cookie, password);
  const { json, text, headers } = await api.call('POST', '/account/two-factor/confirmation', {
    key: null,
    headers: { cookie },
    body: { code: codeOf(secret, atMs) },
  });
  if (json?.recoveryCodes === undefined) throw new Error(`two-factor sign-in is not on: ${text}`);
  return {
    cookie: headers.get('set-cookie')!.split(';')[0]!,
    secret,
    recoveryCodes: json.recoveryCodes,
  };
}

/** Removes two-factor sign-in as if nobody had ever set it up. */
export async function forgetTwoFactor({ database }: Pick<TestApi, 'database'>): Promise<void> {
  await runSql(database, 'DELETE FROM recovery_codes');
  await runSql(database, 'DELETE FROM two_factor');
}
