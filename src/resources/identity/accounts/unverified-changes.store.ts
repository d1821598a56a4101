import { expressionBuilder, sql } from 'kysely';
import { lockWebhooks } from '../../../events/webhooks/webhook-queue.store.ts';
import { newUuid } from '../../../shared/ids.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { Row, Tables } from '../../../store/tables.ts';

export interface UnverifiedChange {
  readonly kind: Row<'unverified_changes'>['kind'];
  readonly targetId: string;
}

/** Counts of what has ended, except API keys. */
export interface RemovedChanges {
  readonly signingKeys: number;
  readonly uploadTokens: number;
  readonly streamKeys: number;
  readonly webhooks: number;
  readonly hooks: number;
  /** Restream destinations, pulled sources and links of player themes, by what they were set for. */
  readonly destinations: number;
  readonly invitations: number;
}

/**
 * Remembers what users set up before they proved their email address, as far as it grants access to an account or sends its data
 * elsewhere. API keys are not part of it: they name their user.
 */
export class UnverifiedChangesStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns false, with the change undone, when the address was proved meanwhile: this may have been somebody else. */
  add(userId: string, { kind, targetId }: UnverifiedChange): Promise<boolean> {
    return this.#database.transaction(async transaction => {
      await transaction.lock('user', userId);
      const { queries } = transaction;
      const user = await transaction.first(
        queries.selectFrom('users').select('verified_at_ms').where('id', '=', userId),
      );
      if (user === undefined) return false;
      const added = queries
        .insertInto('unverified_changes')
        .values({ user_id: userId, kind, target_id: targetId });
      await transaction.run(added.onConflict(conflict => conflict.doNothing()));
      if (user.verified_at_ms === null) return true;
      await this.remove(userId, transaction);
      return false;
    });
  }

  /** Ends the changes of the user, and the same in accounts that the user owns and no verified user has owned. */
  async remove(userId: string, transaction: Transaction): Promise<RemovedChanges> {
    const { queries } = transaction;
    const accounts = selectUnclaimed(userId, transaction);
    const projects = queries.selectFrom('projects').select('id').where('account_id', 'in', accounts);
    const { eb, or } = expressionBuilder<Tables>();
    const changed = (kind: UnverifiedChange['kind'], id: 'id' | 'token' = 'id') =>
      eb(
        sql.ref<string>(id),
        'in',
        queries
          .selectFrom('unverified_changes')
          .select('target_id')
          .where('user_id', '=', userId)
          .where('kind', '=', kind),
      );
    const isInProjects = eb(sql.ref<string>('project_id'), 'in', projects);
    const ofProject = (kind: UnverifiedChange['kind'], id?: 'token') => or([changed(kind, id), isInProjects]);
    const streams = queries.selectFrom('live_streams').select('id');
    const removed = {
      signingKeys: await transaction.run(queries.deleteFrom('signing_keys').where(ofProject('signing-key'))),
      uploadTokens: await transaction.run(
        queries.deleteFrom('upload_tokens').where(ofProject('upload-token', 'token')),
      ),
      invitations: await transaction.run(
        queries
          .deleteFrom('invitations')
          .where(or([changed('invitation'), eb(sql.ref<string>('account_id'), 'in', accounts)])),
      ),
      hooks: await transaction.run(queries.deleteFrom('hooks').where(ofProject('hook'))),
      webhooks: await this.#removeWebhooks(
        await transaction.all(
          queries
            .selectFrom('webhooks')
            .select(['id', 'project_id'])
            .where(ofProject('webhook'))
            .orderBy('project_id'),
        ),
        transaction,
      ),
      streamKeys: await this.#replaceStreamKeys(
        await transaction.all(streams.where(ofProject('stream-key'))),
        transaction,
      ),
      destinations:
        (await this.#removeDestinations(
          await transaction.all(
            streams
              .where(({ eb, or }) => or([eb('restreams', '!=', '[]'), eb('source_url', 'is not', null)]))
              .where(ofProject('destination')),
          ),
          transaction,
        )) +
        (await transaction.run(
          queries
            .updateTable('players')
            .set({ link: null })
            .where('link', 'is not', null)
            .where(ofProject('player-link')),
        )),
    };
    await transaction.run(queries.deleteFrom('unverified_changes').where('user_id', '=', userId));
    return removed;
  }

  async #removeWebhooks(
    webhooks: readonly { id: string; project_id: string }[],
    transaction: Transaction,
  ): Promise<number> {
    for (const { id, project_id: projectId } of webhooks) {
      await lockWebhooks(projectId, transaction);
      await transaction.run(transaction.queries.deleteFrom('webhooks').where('id', '=', id));
      await this.#database.signals.send('webhooks-removed', id, transaction);
    }
    return webhooks.length;
  }

  async #replaceStreamKeys(streams: readonly { id: string }[], transaction: Transaction): Promise<number> {
    for (const { id } of streams) {
      const replaced = transaction.queries.updateTable('live_streams').set({ stream_key: newUuid() });
      await transaction.run(replaced.where('id', '=', id));
    }
    return streams.length;
  }

  async #removeDestinations(streams: readonly { id: string }[], transaction: Transaction): Promise<number> {
    const none = { restreams: '[]', source_url: null, is_source_enabled: null, source_status: null };
    for (const { id } of streams) {
      const changed = transaction.queries.updateTable('live_streams').set(none);
      await transaction.run(changed.where('id', '=', id));
      await this.#database.signals.send('live', id, transaction);
    }
    return streams.length;
  }
}

/** Accounts that the user owns and no verified user has owned, as a subquery. */
export function selectUnclaimed(userId: string, { queries }: Transaction) {
  return queries
    .selectFrom('members as m')
    .innerJoin('accounts as a', 'a.id', 'm.account_id')
    .select('a.id')
    .where('m.user_id', '=', userId)
    .where('m.role', '=', 'owner')
    .where('a.is_unclaimed', '=', 1);
}
