import type { ServedChange } from '../../../http/routing/route-requests.ts';
import { AppError } from '../../../shared/errors.ts';
import type { UnverifiedChange, UnverifiedChangesStore } from './unverified-changes.store.ts';

type Change = Pick<ServedChange, 'params' | 'attributes' | 'answer'>;

const answered =
  (kind: UnverifiedChange['kind'], name: string) =>
  ({ answer }: Change): UnverifiedChange[] => [{ kind, targetId: answeredId(answer, name) }];

/** Routes that create or change what grants access to an account, or sends its data elsewhere. Those of API keys store the user themselves. */
const changesOf: Readonly<Record<string, (change: Change) => UnverifiedChange[]>> = {
  'POST /account/signing-keys': answered('signing-key', 'signingKeyId'),
  'POST /upload-tokens': answered('upload-token', 'token'),
  'POST /webhooks': answered('webhook', 'webhookId'),
  'PATCH /webhooks/{webhookId}': answered('webhook', 'webhookId'),
  'PUT /hooks/{hook}': answered('hook', 'hookId'),
  'POST /live-streams': change => [
    ...answered('stream-key', 'liveStreamId')(change),
    ...destinations(change),
  ],
  'PATCH /live-streams/{liveStreamId}': destinations,
  'POST /live-streams/{liveStreamId}/stream-key': answered('stream-key', 'liveStreamId'),
  'POST /players/{playerId}/logo': answered('player-link', 'playerId'),
};

/**
 * Remembers what an unverified user sets up, until the address is proved.
 * @throws AppError `authentication-invalid-session` or `authentication-invalid-api-key`, with the change undone, when the address
 * was proved meanwhile
 */
export async function recordUnverified(change: ServedChange, store: UnverifiedChangesStore): Promise<void> {
  const { route, caller } = change;
  if (!('actor' in caller)) return;
  const { userId, isUnverified, kind } = caller.actor;
  if (!isUnverified || userId === undefined) return;
  for (const one of changesOf[`${route.method} ${route.path}`]?.(change) ?? []) {
    if (await store.add(userId, one)) continue;
    throw new AppError(kind === 'user' ? 'authentication-invalid-session' : 'authentication-invalid-api-key');
  }
}

function destinations(change: Change): UnverifiedChange[] {
  const { restreams, source } = (change.attributes ?? {}) as { restreams?: unknown; source?: unknown };
  return restreams === undefined && source === undefined
    ? []
    : answered('destination', 'liveStreamId')(change);
}

function answeredId(answer: unknown, name: string): string {
  return String((answer as Readonly<Record<string, unknown>>)[name]);
}
