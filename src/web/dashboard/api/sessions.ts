import { batch } from '@preact/signals';
import { session, sessionEnded, signedOutBecause } from '../state/session.ts';
import { call } from './client.ts';
import { ApiProblem, problemOf } from './problem.ts';

/** How tabs of one browser tell each other that somebody signed in or out: the cookie is the same for all of them. */
const tabs = new BroadcastChannel('millrace.session');

/** Keeps up with who is signed in: other tabs may change it, also while this page is left and kept for the way back. */
export function followSession(): void {
  const look = () => void loadSession().catch(() => {});
  tabs.addEventListener('message', look);
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) look();
  });
}

/** Finds out who is signed in. @throws ApiProblem when the server cannot tell */
export async function loadSession(): Promise<void> {
  try {
    session.value = await call('GET /auth/session');
  } catch (error) {
    if (problemOf(error).status !== 401) throw error;
    sessionEnded();
  }
}

/** Signs in. @throws ApiProblem */
export async function signIn(email: string, password: string): Promise<void> {
  const opened = await call('POST /auth/session', { body: { email, password } });
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
  batch(() => {
    session.value = null;
    signedOutBecause.value = undefined;
  });
  tabs.postMessage('changed');
}
