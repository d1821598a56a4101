import { batch } from '@preact/signals';
import { session, signedOutBecause } from '../state/session.ts';
import { call } from './client.ts';
import { ApiProblem, problemOf } from './problem.ts';

/** Finds out who is signed in. @throws ApiProblem when the server cannot tell */
export async function loadSession(): Promise<void> {
  try {
    session.value = await call('GET /auth/session');
  } catch (error) {
    if (problemOf(error).status !== 401) throw error;
    session.value = null;
  }
}

/** Signs in. @throws ApiProblem */
export async function signIn(email: string, password: string): Promise<void> {
  const opened = await call('POST /auth/session', { body: { email, password } });
  batch(() => {
    signedOutBecause.value = undefined;
    session.value = opened;
  });
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
}
