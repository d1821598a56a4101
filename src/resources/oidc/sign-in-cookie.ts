import { hash } from 'node:crypto';

const plainName = 'millrace_oidc';
/** Over TLS, browsers accept this name only from this host, so no other host of the domain can set it. */
const secureName = `__Host-${plainName}`;
const maxChallengeLength = 200;

export const oidcSignInMs = 10 * 60_000;

/** Ties a sign-in to the browser that started it. */
export function oidcCookie(challenge: string, isSecure: boolean): string {
  const flags = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${oidcSignInMs / 1_000}${isSecure ? '; Secure' : ''}`;
  return `${isSecure ? secureName : plainName}=${challenge}; ${flags}`;
}

export function challengeOf(cookieHeader: string | undefined, isSecure: boolean): string | undefined {
  const name = isSecure ? secureName : plainName;
  const value = `(?:^|;)\\s*${name}=([0-9A-Za-z_-]{1,${maxChallengeLength}})\\s*(?:;|$)`;
  return cookieHeader === undefined ? undefined : new RegExp(value).exec(cookieHeader)?.[1];
}

/** Values of a sign-in that only the browser with the challenge and this server know, until they are sent. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  /** RFC 7636, 4.1. */
  readonly codeVerifier: string;
}

/** The provider gets to know the checks, from which the challenge cannot be computed. */
export function checksOf(challenge: string): SignInChecks {
  const derive = (name: string) => hash('sha256', `${name} ${challenge}`, 'base64url');
  return { state: derive('state'), nonce: derive('nonce'), codeVerifier: derive('code-verifier') };
}
