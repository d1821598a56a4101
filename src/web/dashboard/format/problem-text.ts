import type { ApiProblem } from '../api/problem.ts';
import { session } from '../state/session.ts';
import { isEnglish } from '../state/texts.ts';
import { t } from '../texts/shell.ts';

/** Texts of the errors that people meet who are not signed in, by code. */
const keys = {
  'authentication-wrong-password': 'problem.of.wrongPassword',
  'authentication-wrong-code': 'problem.of.wrongCode',
  'authentication-invalid-passkey': 'problem.of.passkey',
  'authentication-oidc-refused': 'problem.of.oidc',
  'oidc-provider-unavailable': 'problem.of.oidcUnavailable',
  'oidc-not-configured': 'problem.of.oidcOff',
  'mail-not-configured': 'problem.of.mailOff',
  'invitation-of-other-user': 'problem.of.otherUser',
  'email-unverified': 'problem.of.unverified',
  'authorization-suspended-account': 'problem.of.suspended',
  'too-many-requests': 'problem.of.tooMany',
  'resource-not-found': 'problem.of.brokenLink',
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
    return t(signedInKeys[code as keyof typeof signedInKeys]);
  if (Object.hasOwn(keys, code)) return t(keys[code as keyof typeof keys]);
  return status >= 500 ? t('problem.of.server') : text;
}
