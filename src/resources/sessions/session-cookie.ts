import { sessionSecretLength } from './session.ts';

const plainName = 'millrace_session';
/** Over TLS, browsers accept this name only from this host, so no other host of the domain can set it. */
const secureName = `__Host-${plainName}`;

const plainCookie = cookiePattern(plainName);
const secureCookie = cookiePattern(secureName);

/** @param isSecure over TLS, only a cookie that was set over TLS counts */
export function sessionSecretOf(cookieHeader: string | undefined, isSecure: boolean): string | undefined {
  const ourCookie = isSecure ? secureCookie : plainCookie;
  return cookieHeader === undefined ? undefined : ourCookie.exec(cookieHeader)?.[1];
}

/** Hides the cookie from scripts and other sites (RFC 6265bis, 4.1 and 8.8). @param secret `''` removes it */
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
