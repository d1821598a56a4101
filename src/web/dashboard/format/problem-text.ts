import type { ApiProblem } from '../api/problem.ts';
import { isEnglish } from '../state/texts.ts';
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

/** The server's own text is in English, and says more. */
export function problemText(problem: ApiProblem): string {
  if (isEnglish()) return problem.text;
  if (Object.hasOwn(keys, problem.code)) return t(keys[problem.code as keyof typeof keys]);
  return problem.status >= 500 ? t('signIn.error.server') : problem.text;
}
