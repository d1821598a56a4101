import { hash } from 'node:crypto';
import { OwnCookie } from '../sessions/own-cookie.ts';

const maxChallengeLength = 200;

export const oidcSignInMs = 10 * 60_000;

/** Holds the challenge, which ties a sign-in to the browser that started it. */
export const oidcCookie = new OwnCookie('millrace_oidc', `[0-9A-Za-z_-]{1,${maxChallengeLength}}`);

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
