import type { PeerRequest } from '../../../http/listener/client-address.ts';
import type { SetHeader } from '../../../http/routing/caller.ts';
import type { SessionGate } from './session-gate.ts';
import { type SessionView, sessionSchema } from './sessions.schema.ts';
import type { SignedIn, SignInOrigin } from './sessions.service.ts';

/** The successful response of every sign-in. */
export const sessionStarted = {
  status: 201,
  description: 'The session.',
  schema: sessionSchema,
  headers: { 'Set-Cookie': 'The cookie of the session.' },
} as const;

/**
 * Starts a session for a page of this server, and sets its cookie.
 * @throws AppError `authorization-other-site`, and what `start` throws
 */
export async function answerSignIn(
  gate: SessionGate,
  { incoming, setHeader }: { readonly incoming: PeerRequest; readonly setHeader: SetHeader },
  start: (from: SignInOrigin) => Promise<SignedIn>,
): Promise<SessionView> {
  gate.requireOwnSite(incoming, { needsOrigin: false });
  const { view, secret } = await start({ request: incoming, before: gate.secretOf(incoming) });
  setHeader('Set-Cookie', gate.cookieFor(secret, incoming));
  return view;
}
