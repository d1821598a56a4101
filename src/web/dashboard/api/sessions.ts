import { batch } from '@preact/signals';
import { endSession, isNotedAsSignedIn, session, wasSignedOut } from '../state/session.ts';
import type { Session } from './api-types.ts';
import { call, type Input } from './client.ts';
import { ApiProblem, problemOf } from './problem.ts';

export const sessionChannel = new BroadcastChannel('millrace.session');

/** Grows with every request and change, so that late answers are ignored. */
let latestRequest = 0;

/** @throws ApiProblem */
export async function loadSession(): Promise<void> {
  latestRequest += 1;
  const own = latestRequest;
  try {
    const found = await findSession();
    if (own !== latestRequest) return;
    if (found === undefined) endSession(session.peek()?.sessionId);
    else session.value = found;
  } catch (error) {
    if (problemOf(error).status !== 401) throw error;
    if (own === latestRequest) endSession(session.peek()?.sessionId);
  }
}

/** Asks for the session only where there is one: browsers report each refusal as an error. */
async function findSession(): Promise<Session | undefined> {
  if (!isNotedAsSignedIn() && !(await call('GET /auth/methods')).signedIn) return undefined;
  return call('GET /auth/session');
}

export async function signIn(body: Input<'POST /auth/session'>['body']): Promise<void> {
  openSession(await call('POST /auth/session', { body }));
}

export function openSession(opened: Session): void {
  latestRequest += 1;
  batch(() => {
    wasSignedOut.value = false;
    session.value = opened;
  });
  sessionChannel.postMessage('changed');
}

export async function switchAccount(accountId: string): Promise<void> {
  const switched = await call('PATCH /auth/session', { body: { accountId } });
  latestRequest += 1;
  session.value = switched;
  sessionChannel.postMessage('changed');
}

/** Tells other tabs, too. @throws ApiProblem */
export async function projectsChanged(): Promise<void> {
  sessionChannel.postMessage('changed');
  await loadSession();
}

export async function signOut(): Promise<void> {
  try {
    await call('DELETE /auth/session');
  } catch (error) {
    if (!(error instanceof ApiProblem && error.status === 401)) throw error;
  }
  latestRequest += 1;
  batch(() => {
    session.value = null;
    wasSignedOut.value = false;
  });
  sessionChannel.postMessage('changed');
}
