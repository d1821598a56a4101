import type { Component } from '../../../shared/lifecycle.ts';
import type { Logger } from '../../../shared/logger.ts';
import { OnDemandInterval } from '../../../shared/scheduling/on-demand-interval.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';

interface Follower {
  /** Undefined for all accounts. */
  readonly accountId: string | undefined;
  readonly changed: () => void;
}

const pollIntervalMs = 500;

/**
 * Tells all servers, after the commit, that an account, its keys or its sessions changed. Undefined is any account. Call this last in the
 * transaction: others that change access wait for it.
 */
export async function announceAccessChange(
  accountId: string | undefined,
  database: Database,
  transaction: Transaction,
): Promise<void> {
  const counted = transaction.queries
    .insertInto('access_revisions')
    .values({ id: 1, revision: 1 })
    .onConflict(conflict =>
      conflict.column('id').doUpdateSet(({ eb }) => ({ revision: eb('access_revisions.revision', '+', 1) })),
    )
    .returning('revision');
  const { revision } = (await transaction.first(counted))!;
  await database.signals.send(
    'access',
    accountId === undefined ? `${revision}` : `${revision} ${accountId}`,
    transaction,
  );
}

/**
 * Tells what is open on this server, such as event feeds and uploads, that access changed on any server. Signals may be
 * lost, so it also reads the number of changes twice a second while there is something open.
 */
export class AccessWatch implements Component {
  readonly name = 'access-watch';
  readonly #database: Database;
  readonly #clearCaches: () => void;
  readonly #log: Logger;
  readonly #followers = new Set<Follower>();
  readonly #unlisten: () => void;
  readonly #polls = new OnDemandInterval(pollIntervalMs, () => {
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = undefined;
    });
    return this.#followers.size > 0;
  });
  #polling: Promise<void> | undefined;
  #revision = 0;

  /** @param options.clearCaches is called before those who ask again */
  constructor(options: { database: Database; clearCaches: () => void; log: Logger }) {
    this.#database = options.database;
    this.#clearCaches = options.clearCaches;
    this.#log = options.log;
    this.#unlisten = options.database.signals.listen('access', payload => this.#handle(payload));
  }

  async start(): Promise<void> {}

  async stop(): Promise<void> {
    this.#unlisten();
    this.#polls.stop();
    await this.#polling;
  }

  /**
   * Calls `changed` when the access of the account may have changed, and soon after this call, for changes that came
   * between the check of the credentials and this call. @returns ends that
   */
  follow(accountId: string | undefined, changed: () => void): () => void {
    const follower = { accountId, changed };
    this.#followers.add(follower);
    this.#polls.wake();
    const first = setImmediate(changed);
    return () => {
      clearImmediate(first);
      this.#followers.delete(follower);
    };
  }

  #handle(payload: string | undefined): void {
    const [revision, accountId] = payload?.split(' ') ?? [];
    if (revision === undefined) {
      this.#notify(undefined);
      return;
    }
    // A poll was faster.
    if (Number(revision) <= this.#revision) return;
    const isNext = Number(revision) === this.#revision + 1;
    this.#revision = Number(revision);
    this.#notify(isNext ? accountId : undefined);
  }

  async #poll(): Promise<void> {
    try {
      const row = await this.#database.first(
        this.#database.queries.selectFrom('access_revisions').select('revision'),
      );
      if (row === undefined || row.revision <= this.#revision) return;
      this.#revision = row.revision;
      this.#notify(undefined);
    } catch (error) {
      this.#log.debug('access-not-read', { error });
    }
  }

  #notify(accountId: string | undefined): void {
    this.#clearCaches();
    for (const follower of [...this.#followers]) {
      const isMeant =
        accountId === undefined || follower.accountId === undefined || follower.accountId === accountId;
      if (isMeant) follower.changed();
    }
  }
}
