import type { AddressOf, PeerRequest } from '../../../http/listener/client-address.ts';
import type { AnyCaller } from '../../../http/routing/caller.ts';
import type { ServedChange } from '../../../http/routing/route-requests.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { AuditStore } from './audit.store.ts';
import { type AuditActor, type AuditEvent, shortToken } from './audit-entry.ts';
import { changedResource } from './changed-resource.ts';
import { actionOf } from './route-action.ts';

/** Maximum time from the first chunk of an upload to the last. */
const uploadMs = 168 * 3_600_000;

const signInEvents = {
  'signed-in': { action: 'session.create', summary: 'Sign in' },
  'account-created': { action: 'account.create', summary: 'Create an account' },
  'password-reset': { action: 'password.reset', summary: 'Set a new password with a link' },
  joined: { action: 'invitation.accept', summary: 'Accept an invitation' },
  refused: { action: 'session.refuse', summary: 'Sign-in failed' },
} as const;

/** Records what happens in accounts. */
export class AuditLog {
  readonly #database: Database;
  readonly #store: AuditStore;
  readonly #addressOf: AddressOf;
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(options: { database: Database; addressOf: AddressOf; clock: Clock; log: Logger }) {
    this.#database = options.database;
    this.#store = new AuditStore(options.database);
    this.#addressOf = options.addressOf;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Call this before the response. @throws an error of the database, so that no change that was not recorded succeeds */
  async recordChange(change: ServedChange): Promise<void> {
    const { route, params, found, caller, attributes, answer, incoming } = change;
    const action = actionOf(route);
    const changed = route.method === 'PATCH' ? Object.keys((attributes ?? {}) as object) : undefined;
    if (changed?.length === 0) return;
    try {
      const accountId = await this.#accountOf(caller);
      const event: AuditEvent = {
        accountId,
        ...('environment' in caller
          ? { project: { projectId: caller.projectId, environment: caller.environment } }
          : {}),
        actor: actorOf(caller),
        address: this.#addressOf(incoming),
        action,
        summary: route.summary,
        target: changedResource(params, found, answer),
        changed,
      };
      const isChunk = route.body?.kind === 'file' && incoming.headers['content-range'] !== undefined;
      await this.#database.transaction(async transaction => {
        const nowMs = this.#clock.nowMs();
        if (isChunk && (await this.#store.hasSince(event, nowMs - uploadMs, transaction))) return;
        await this.#store.add(event, nowMs, transaction);
      });
    } catch (error) {
      this.#log.error('change-not-recorded', { action, route: route.path, error });
      throw error;
    }
  }

  async recordSignIn(
    user: { readonly accountId: string; readonly userId: string; readonly email: string },
    outcome: keyof typeof signInEvents,
    request: PeerRequest,
    transaction?: Transaction,
  ): Promise<void> {
    const event: AuditEvent = {
      accountId: user.accountId,
      actor: { kind: 'user', id: user.userId, name: user.email },
      address: this.#addressOf(request),
      ...signInEvents[outcome],
    };
    await (transaction ?? this.#database).transaction(inner =>
      this.#store.add(event, this.#clock.nowMs(), inner),
    );
  }

  async #accountOf(caller: AnyCaller): Promise<string> {
    if ('accountId' in caller) return caller.accountId;
    return (await this.#store.accountOf(caller.projectId))!;
  }
}

function actorOf(caller: AnyCaller): AuditActor {
  if ('token' in caller) return { kind: 'upload-token', id: shortToken(caller.token), name: undefined };
  const { actor } = caller;
  return actor.kind === 'user'
    ? { kind: 'user', id: actor.userId, name: actor.email }
    : { kind: 'api-key', id: actor.apiKeyId, name: actor.name };
}
