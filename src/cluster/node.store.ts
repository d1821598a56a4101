import { sql } from 'kysely';
import type { Clock } from '../shared/clock.ts';
import type { NodeRole } from '../shared/node-roles.ts';
import type { Connection, Transaction } from '../store/connection.ts';
import type { Database } from '../store/database.ts';
import { databaseNowMs } from '../store/database-clock.ts';
import type { Row } from '../store/tables.ts';
import type { ClusterNode } from './node.ts';

export interface NodeRun {
  readonly id: string;
  readonly runId: string;
}

export interface StoredNode extends NodeRun {
  readonly place: string;
  readonly schemaVersion: number;
  readonly node: Omit<ClusterNode, 'startedAtMs'>;
}

/** Nodes and their leases, by the clock of the database. */
export class NodeStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #leaseMs: number;

  constructor(database: Database, clock: Clock, leaseMs: number) {
    this.#database = database;
    this.#clock = clock;
    this.#leaseMs = leaseMs;
  }

  /**
   * Begins the lease of this run, and gives back the leader leases of the node's former one.
   * @returns when it started, or the node's other run, which has a lease and may be elsewhere
   */
  register(self: StoredNode): Promise<number | Row<'nodes'>> {
    return this.#database.transaction(async transaction => {
      await transaction.lock('node', self.id);
      const other = await this.#findOther(self, transaction);
      if (other !== undefined && other.place !== self.place) return other;
      const { queries } = transaction;
      await transaction.run(queries.deleteFrom('duties').where('node_id', '=', self.id));
      await transaction.run(queries.deleteFrom('nodes').where('id', '=', self.id));
      const nowMs = this.#now(transaction);
      const row = await transaction.first(
        queries
          .insertInto('nodes')
          .values({
            id: self.id,
            run_id: self.runId,
            place: self.place,
            schema_version: self.schemaVersion,
            version: self.node.version,
            started_at_ms: nowMs,
            ...changing(self.node),
            lease_until_ms: sql`${nowMs} + ${this.#leaseMs}`,
          })
          .returning('started_at_ms'),
      );
      await this.#database.signals.send('nodes', self.id, transaction);
      return row!.started_at_ms;
    });
  }

  /** Returns false when the lease has run out: others may have taken over what the run did. */
  async renew({ id, runId, node }: StoredNode): Promise<boolean> {
    const query = this.#database.queries
      .updateTable('nodes')
      .set({ ...changing(node), lease_until_ms: sql`${this.#now()} + ${this.#leaseMs}` })
      .where('id', '=', id)
      .where('run_id', '=', runId)
      .where('lease_until_ms', '>', this.#now());
    return (await this.#database.runUrgent(query)) === 1;
  }

  async leave({ id, runId }: NodeRun): Promise<void> {
    await this.#database.transaction(async transaction => {
      const { queries } = transaction;
      await transaction.run(
        queries.deleteFrom('duties').where('node_id', '=', id).where('run_id', '=', runId),
      );
      await transaction.run(
        queries
          .updateTable('nodes')
          .set({ lease_until_ms: 0 })
          .where('id', '=', id)
          .where('run_id', '=', runId),
      );
      await this.#database.signals.send('nodes', id, transaction);
    });
  }

  async list(): Promise<ClusterNode[]> {
    const query = this.#database.queries
      .selectFrom('nodes')
      .selectAll()
      .where('lease_until_ms', '>', this.#now())
      .orderBy('started_at_ms')
      .orderBy('id');
    return (await this.#database.all(query)).map(nodeFrom);
  }

  /** @param haveLeft leaves out those whose lease ran out: after the database was away, they may come back */
  async listExpired(haveLeft: boolean): Promise<NodeRun[]> {
    const query = this.#database.queries
      .selectFrom('nodes')
      .select(['id', 'run_id as runId'])
      .where('lease_until_ms', '<=', haveLeft ? sql.lit(0) : this.#now())
      .orderBy('lease_until_ms');
    return this.#database.all(query);
  }

  async isExpired({ id, runId }: NodeRun): Promise<boolean> {
    const query = this.#database.queries
      .selectFrom('nodes')
      .select('id')
      .where('id', '=', id)
      .where('run_id', '=', runId)
      .where('lease_until_ms', '<=', this.#now());
    return (await this.#database.first(query)) !== undefined;
  }

  async removeExpired({ id, runId }: NodeRun): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .deleteFrom('nodes')
        .where('id', '=', id)
        .where('run_id', '=', runId)
        .where('lease_until_ms', '<=', this.#now()),
    );
  }

  /** Takes those that no other node with a lease has, and returns them. */
  async takeLeaderLeases({ id, runId }: NodeRun, names: readonly string[]): Promise<Set<string>> {
    const { queries } = this.#database;
    const values = names.map(name => ({ name, node_id: id, run_id: runId }));
    const taken = await this.#database.all(
      queries
        .insertInto('duties')
        .values(values)
        .onConflict(conflict =>
          conflict
            .column('name')
            .doUpdateSet({ node_id: id, run_id: runId })
            .where(({ not, exists, selectFrom }) =>
              not(
                exists(
                  selectFrom('nodes')
                    .select('nodes.id')
                    .whereRef('nodes.id', '=', 'duties.node_id')
                    .whereRef('nodes.run_id', '=', 'duties.run_id')
                    .where('nodes.lease_until_ms', '>', this.#now())
                    .where('nodes.run_id', '!=', runId),
                ),
              ),
            ),
        )
        .returning('name'),
    );
    return new Set(taken.map(({ name }) => name));
  }

  /** Lists those of nodes with a lease. */
  async listHeldLeaderLeases(): Promise<{ readonly name: string; readonly holder: NodeRun }[]> {
    const query = this.#database.queries
      .selectFrom('duties')
      .innerJoin('nodes', join =>
        join.onRef('nodes.id', '=', 'duties.node_id').onRef('nodes.run_id', '=', 'duties.run_id'),
      )
      .select(['duties.name', 'duties.node_id as id', 'duties.run_id as runId'])
      .where('nodes.lease_until_ms', '>', this.#now());
    const rows = await this.#database.all(query);
    return rows.map(({ name, id, runId }) => ({ name, holder: { id, runId } }));
  }

  /** Lets any node take it when `to` has no lease any more. */
  async handOverLeaderLease(from: NodeRun, name: string, to: NodeRun): Promise<void> {
    const query = this.#database.queries
      .updateTable('duties')
      .set({ node_id: to.id, run_id: to.runId })
      .where('name', '=', name)
      .where('node_id', '=', from.id)
      .where('run_id', '=', from.runId)
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom('nodes')
            .select('id')
            .where('id', '=', to.id)
            .where('run_id', '=', to.runId)
            .where('lease_until_ms', '>', this.#now()),
        ),
      );
    if ((await this.#database.run(query)) === 0) await this.releaseLeaderLeases(from, name);
    else await this.#database.signals.send('nodes', from.id);
  }

  /** @param name default: all that the run has */
  async releaseLeaderLeases({ id, runId }: NodeRun, name?: string): Promise<void> {
    const query = this.#database.queries
      .deleteFrom('duties')
      .where('node_id', '=', id)
      .where('run_id', '=', runId)
      .$if(name !== undefined, given => given.where('name', '=', name!));
    if ((await this.#database.run(query)) > 0) await this.#database.signals.send('nodes', id);
  }

  #findOther({ id, runId }: NodeRun, transaction: Transaction): Promise<Row<'nodes'> | undefined> {
    return transaction.first(
      transaction.queries
        .selectFrom('nodes')
        .selectAll()
        .where('id', '=', id)
        .where('run_id', '!=', runId)
        .where('lease_until_ms', '>', this.#now(transaction)),
    );
  }

  #now(connection: Connection = this.#database) {
    return databaseNowMs(connection, this.#clock);
  }
}

function changing({ roles, url, mediaUrl, isDraining }: StoredNode['node']) {
  return {
    roles: JSON.stringify(roles),
    url,
    media_url: mediaUrl,
    is_draining: Number(isDraining),
  };
}

function nodeFrom(row: Row<'nodes'>): ClusterNode {
  return {
    id: row.id,
    roles: JSON.parse(row.roles) as NodeRole[],
    url: row.url,
    mediaUrl: row.media_url,
    version: row.version,
    startedAtMs: row.started_at_ms,
    isDraining: row.is_draining === 1,
  };
}
