import { sessionSecretLength } from './session.ts';

const plainName = 'millrace_session';
/** Over TLS, browsers accept a cookie of this name only from this host, so no other host of the domain can set one. */
const secureName = `__Host-${plainName}`;

const plainCookie = cookiePattern(plainName);
const secureCookie = cookiePattern(secureName);

/**
 * Reads the secret from a `Cookie` header.
 *
 * @param isSecure whether the request came over TLS, where only a cookie that was set over TLS counts
 */
export function sessionSecretOf(cookieHeader: string | undefined, isSecure: boolean): string | undefined {
  const ourCookie = isSecure ? secureCookie : plainCookie;
  return cookieHeader === undefined ? undefined : ourCookie.exec(cookieHeader)?.[1];
}

/**
 * Formats a `Set-Cookie` header. Scripts cannot read the cookie, and browsers do not send it with requests of other sites.
 *
 * **Source**: Cookies: HTTP State Management Mechanism (RFC 6265bis), 4.1 and 8.8
 *
 * @param secret `''` removes the cookie
 * @param isSecure whether the cookie is for TLS only
 */
export function sessionCookie(
  secret: string,
  { lastsMs, isSecure }: { lastsMs: number; isSecure: boolean },
): string {
  const maxAge = Math.floor(lastsMs / 1_000);
  const flags = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAge}${isSecure ? '; Secure' : ''}`;
  return `${isSecure ? secureName : plainName}=${secret}; ${flags}`;
}

function cookiePattern(name: string): RegExp {
  return new RegExp(`(?:^|;)\\s*${name}=([0-9A-Za-z]{${sessionSecretLength}})\\s*(?:;|$)`);
}
