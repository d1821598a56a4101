import { OwnCookie } from './own-cookie.ts';
import { sessionSecretLength } from './session.ts';

/** Holds the secret of a session; `''` removes it. */
export const sessionCookie = new OwnCookie('millrace_session', `[0-9A-Za-z]{${sessionSecretLength}}`);
