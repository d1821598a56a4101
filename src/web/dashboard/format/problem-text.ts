import type { ApiProblem } from '../api/problem.ts';
import { session } from '../state/session.ts';
import { isEnglish } from '../state/texts.ts';
import { t as shared } from '../texts/shell.ts';
import { t } from '../texts/sign-in.ts';

/** Texts of the errors that people meet who are not signed in, by code. */
const keys = {
  'authentication-wrong-password': 'signIn.error.wrongPassword',
  'authentication-wrong-code': 'signIn.error.wrongCode',
  'authentication-invalid-passkey': 'signIn.error.passkey',
  'authentication-oidc-refused': 'signIn.error.oidc',
  'oidc-provider-unavailable': 'signIn.error.oidcUnavailable',
  'oidc-not-configured': 'signIn.error.oidcOff',
  'mail-not-configured': 'signIn.error.mailOff',
  'invitation-of-other-user': 'signIn.error.otherUser',
  'email-unverified': 'signIn.error.unverified',
  'authorization-suspended-account': 'signIn.error.suspended',
  'too-many-requests': 'signIn.error.tooMany',
  'resource-not-found': 'signIn.error.missing',
} as const;

/** Texts of the errors that others meet, by code. */
const signedInKeys = {
  'authorization-insufficient-scope': 'problem.scope',
  'resource-not-found': 'problem.missing',
} as const;

/** The server's own text is in English, and says more. */
export function problemText(problem: ApiProblem): string {
  const { code, status, text } = problem;
  if (isEnglish()) return text;
  if (session.value && Object.hasOwn(signedInKeys, code))
    return shared(signedInKeys[code as keyof typeof signedInKeys]);
  if (Object.hasOwn(keys, code)) return t(keys[code as keyof typeof keys]);
  return status >= 500 ? t('signIn.error.server') : text;
}
