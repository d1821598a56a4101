import { batch } from '@preact/signals';
import { endSession, session, signOutReason } from '../state/session.ts';
import { call } from './client.ts';
import { ApiProblem, problemOf } from './problem.ts';

/** How tabs of one browser tell each other that somebody signed in or out: the cookie is the same for all of them. */
export const sessionChannel = new BroadcastChannel('millrace.session');

/** Grows with each question who is signed in, and each change of that: only what the newest says is true. */
let latestRequest = 0;

/** Finds out who is signed in. @throws ApiProblem when the server cannot tell */
export async function loadSession(): Promise<void> {
  latestRequest += 1;
  const own = latestRequest;
  try {
    const found = await call('GET /auth/session');
    if (own === latestRequest) session.value = found;
  } catch (error) {
    if (problemOf(error).status !== 401) throw error;
    if (own === latestRequest) endSession(session.peek()?.sessionId);
  }
}

/** Signs in. @throws ApiProblem */
export async function signIn(email: string, password: string): Promise<void> {
  const opened = await call('POST /auth/session', { body: { email, password } });
  latestRequest += 1;
  batch(() => {
    signOutReason.value = undefined;
    session.value = opened;
  });
  sessionChannel.postMessage('changed');
}

/** Signs out here; other sessions stay. @throws ApiProblem */
export async function signOut(): Promise<void> {
  try {
    await call('DELETE /auth/session');
  } catch (error) {
    if (!(error instanceof ApiProblem && error.status === 401)) throw error;
  }
  latestRequest += 1;
  batch(() => {
    session.value = null;
    signOutReason.value = undefined;
  });
  sessionChannel.postMessage('changed');
}
