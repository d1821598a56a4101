import { computed, signal } from '@preact/signals';
import type { Session } from '../api/api-types.ts';
import { readStored, writeStored } from './local-storage.ts';

export type Environment = 'sandbox' | 'production';

export type Scope = Session['scopes'][number];

/** undefined: not known yet; null: signed out. */
export const session = signal<Session | null | undefined>(undefined);

export const signOutReason = signal<string | undefined>(undefined);

interface EnvironmentChoice {
  readonly environment: Environment;
  /** Absent in choices of older versions, which apply to every account. */
  readonly accountId: string | undefined;
}

const choice = signal<EnvironmentChoice | undefined>(storedChoice());

export const environment = computed<Environment>(() => {
  const available = session.value?.environments ?? [];
  const { environment: chosen, accountId } = choice.value ?? {};
  const isOwn = accountId === undefined || accountId === session.value?.account.accountId;
  if (chosen !== undefined && isOwn && available.includes(chosen)) return chosen;
  return available.includes('production') ? 'production' : 'sandbox';
});

/** True when your role in the account has the scope. */
export function can(scope: Scope): boolean {
  return session.value?.scopes.includes(scope) ?? false;
}

/** Reaches everything of the account, such as all keys. */
export function accountEnvironment(): Environment {
  return session.value?.environments.includes('production') ? 'production' : 'sandbox';
}

export function chooseEnvironment(next: Environment): void {
  const accountId = session.peek()?.account.accountId;
  choice.value = { environment: next, accountId };
  writeStored('environment', accountId === undefined ? next : `${next} ${accountId}`);
}

/** `sessionId` is that of the refused request: another one may have begun since. */
export function endSession(sessionId: string | undefined): void {
  if (sessionId !== session.peek()?.sessionId) return;
  if (session.peek()) signOutReason.value = 'You were signed out. Sign in to continue where you left off.';
  session.value = null;
}

function storedChoice(): EnvironmentChoice | undefined {
  const [chosen, accountId] = readStored('environment')?.split(' ') ?? [];
  return chosen === 'sandbox' || chosen === 'production' ? { environment: chosen, accountId } : undefined;
}
