import { sessionSecretLength } from './session.ts';

const plainName = 'millrace_session';
/** With TLS browsers take a cookie of this name only from this very host: no neighbour under the same domain can sign people in as it likes. */
const secureName = `__Host-${plainName}`;

const plainCookie = cookiePattern(plainName);
const secureCookie = cookiePattern(secureName);

/**
 * The secret in a `Cookie` header; undefined when none of the form of ours is there.
 *
 * @param isSecure whether the request came over TLS: there, only what was set over TLS counts
 */
export function sessionSecretOf(cookieHeader: string | undefined, isSecure: boolean): string | undefined {
  const ourCookie = isSecure ? secureCookie : plainCookie;
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
  return `${isSecure ? secureName : plainName}=${secret}; ${flags}`;
}

function cookiePattern(name: string): RegExp {
  return new RegExp(`(?:^|;)\\s*${name}=([0-9A-Za-z]{${sessionSecretLength}})\\s*(?:;|$)`);
}
