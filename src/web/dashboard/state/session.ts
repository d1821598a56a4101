import { computed, signal } from '@preact/signals';
import type { Session } from '../api/api-types.ts';
import { readStored, store } from './stored.ts';

/** Which of an account's two projects the dashboard shows. */
export type Environment = 'sandbox' | 'production';

/** undefined: not known yet; null: nobody. */
export const session = signal<Session | null | undefined>(undefined);

/** Why the sign-in page is shown to somebody who was in. */
export const signedOutBecause = signal<string | undefined>(undefined);

const chosen = signal<Environment | undefined>(storedEnvironment());

/** What was chosen as far as the account has it: the sandbox until it is upgraded, then production unless chosen otherwise. */
export const environment = computed<Environment>(() => {
  const available = session.value?.environments ?? [];
  if (chosen.value !== undefined && available.includes(chosen.value)) return chosen.value;
  return available.includes('production') ? 'production' : 'sandbox';
});

/** The environment from which what belongs to the account as a whole, such as its keys, can be reached best. */
export function widestEnvironment(): Environment {
  return session.value?.environments.includes('production') ? 'production' : 'sandbox';
}

/** Shows another environment from now on, also after a reload. */
export function chooseEnvironment(next: Environment): void {
  chosen.value = next;
  store('environment', next);
}

/** To be called when the server no longer knows who this is. @param asked id of the session in which it was asked: somebody may have signed in since */
export function sessionEnded(asked: string | undefined): void {
  if (asked !== session.peek()?.sessionId) return;
  if (session.peek()) signedOutBecause.value = 'You were signed out. Sign in to go on where you were.';
  session.value = null;
}

function storedEnvironment(): Environment | undefined {
  const stored = readStored('environment');
  return stored === 'sandbox' || stored === 'production' ? stored : undefined;
}
