import { computed, signal } from '@preact/signals';
import type { Session } from '../api/api-types.ts';
import { readStored, writeStored } from './local-storage.ts';

/** Which of an account's two projects the dashboard shows. */
export type Environment = 'sandbox' | 'production';

/** undefined: not known yet; null: nobody. */
export const session = signal<Session | null | undefined>(undefined);

/** Why the sign-in page is shown to somebody who was in. */
export const signOutReason = signal<string | undefined>(undefined);

/** An environment that was chosen in this browser, and by which account. */
interface EnvironmentChoice {
  readonly environment: Environment;
  /** Absent in choices that an older version stored: these count for every account. */
  readonly accountId: string | undefined;
}

const choice = signal<EnvironmentChoice | undefined>(storedChoice());

/** The environment that the account chose in this browser, else production, or the sandbox until the account is upgraded. */
export const environment = computed<Environment>(() => {
  const available = session.value?.environments ?? [];
  const { environment: chosen, accountId } = choice.value ?? {};
  const isOwn = accountId === undefined || accountId === session.value?.account.accountId;
  if (chosen !== undefined && isOwn && available.includes(chosen)) return chosen;
  return available.includes('production') ? 'production' : 'sandbox';
});

/** The environment from which what belongs to the account as a whole, such as its keys, can be reached best. */
export function accountEnvironment(): Environment {
  return session.value?.environments.includes('production') ? 'production' : 'sandbox';
}

/** Shows another environment from now on, also after a reload. */
export function chooseEnvironment(next: Environment): void {
  const accountId = session.peek()?.account.accountId;
  choice.value = { environment: next, accountId };
  writeStored('environment', accountId === undefined ? next : `${next} ${accountId}`);
}

/** To be called when the server no longer knows who this is. @param sessionId id of the session in which it was asked: somebody may have signed in since */
export function endSession(sessionId: string | undefined): void {
  if (sessionId !== session.peek()?.sessionId) return;
  if (session.peek()) signOutReason.value = 'You were signed out. Sign in to go on where you were.';
  session.value = null;
}

function storedChoice(): EnvironmentChoice | undefined {
  const [chosen, accountId] = readStored('environment')?.split(' ') ?? [];
  return chosen === 'sandbox' || chosen === 'production' ? { environment: chosen, accountId } : undefined;
}
