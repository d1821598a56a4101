import { sessionSecretLength } from './session.ts';

/** Name of the cookie that tells who is signed in. */
export const sessionCookieName = 'millrace_session';

const ourCookie = new RegExp(
  `(?:^|;)\\s*${sessionCookieName}=([0-9A-Za-z]{${sessionSecretLength}})\\s*(?:;|$)`,
);

/** The secret in a `Cookie` header; undefined when none of the form of ours is there. */
export function sessionSecretOf(cookieHeader: string | undefined): string | undefined {
  return cookieHeader === undefined ? undefined : ourCookie.exec(cookieHeader)?.[1];
}

/**
 * The value of a `Set-Cookie` header. Scripts cannot read the cookie, and browsers do not send it when another site asks them to.
 *
 * **Source**: Cookies: HTTP State Management Mechanism (RFC 6265bis), 4.1 and 8.8
 *
 * @param secret `''` takes the cookie away
 * @param lastsMs how long the browser keeps it
 * @param isSecure whether it is for TLS only
 */
export function sessionCookie(
  secret: string,
  { lastsMs, isSecure }: { lastsMs: number; isSecure: boolean },
): string {
  const maxAge = Math.floor(lastsMs / 1_000);
  const flags = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${isSecure ? '; Secure' : ''}`;
  return `${sessionCookieName}=${secret}; ${flags}`;
}
