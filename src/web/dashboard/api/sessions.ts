import { batch } from '@preact/signals';
import { session, sessionEnded, signedOutBecause } from '../state/session.ts';
import { call } from './client.ts';
import { ApiProblem, problemOf } from './problem.ts';

/** How tabs of one browser tell each other that somebody signed in or out: the cookie is the same for all of them. */
export const tabs = new BroadcastChannel('millrace.session');

/** Grows with each question who is signed in, and each change of that: only what the newest says is true. */
let newest = 0;

/** Finds out who is signed in. @throws ApiProblem when the server cannot tell */
export async function loadSession(): Promise<void> {
  newest += 1;
  const own = newest;
  try {
    const found = await call('GET /auth/session');
    if (own === newest) session.value = found;
  } catch (error) {
    if (problemOf(error).status !== 401) throw error;
    if (own === newest) sessionEnded(session.peek()?.sessionId);
  }
}

/** Signs in. @throws ApiProblem */
export async function signIn(email: string, password: string): Promise<void> {
  const opened = await call('POST /auth/session', { body: { email, password } });
  newest += 1;
  batch(() => {
    signedOutBecause.value = undefined;
    session.value = opened;
  });
  tabs.postMessage('changed');
}

/** Signs out here; other sessions stay. @throws ApiProblem */
export async function signOut(): Promise<void> {
  try {
    await call('DELETE /auth/session');
  } catch (error) {
    if (!(error instanceof ApiProblem && error.status === 401)) throw error;
  }
  newest += 1;
  batch(() => {
    session.value = null;
    signedOutBecause.value = undefined;
  });
  tabs.postMessage('changed');
}
