import { createPublicKey, type KeyObject } from 'node:crypto';
import type { Database } from '../../../store/database.ts';
import { lockForUpdate } from '../../../store/row-locks.ts';
import type { Row } from '../../../store/tables.ts';
import type { SigningAlgorithm, SigningKey } from './signing-key.ts';

export class SigningKeysStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(projectId: string, signingKeyId: string): Promise<SigningKey | undefined> {
    const row = await this.#database.first(
      this.#ofProject(projectId).selectAll().where('id', '=', signingKeyId),
    );
    return row && keyFrom(row);
  }

  async findForVerification(
    signingKeyId: string,
  ): Promise<{ projectId: string; algorithm: SigningAlgorithm; publicKey: KeyObject } | undefined> {
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('signing_keys')
        .select(['project_id', 'algorithm', 'public_key'])
        .where('id', '=', signingKeyId),
    );
    if (row === undefined) return undefined;
    return {
      projectId: row.project_id,
      algorithm: row.algorithm,
      publicKey: createPublicKey(row.public_key),
    };
  }

  async all(projectId: string, direction: 'asc' | 'desc'): Promise<SigningKey[]> {
    const rows = await this.#database.all(
      this.#ofProject(projectId).selectAll().orderBy('created_at_ms', direction).orderBy('id', direction),
    );
    return rows.map(keyFrom);
  }

  /** Returns false when its project already has `maxKeys`. */
  add(key: SigningKey, maxKeys: number): Promise<boolean> {
    return this.#database.transaction(async transaction => {
      const project = transaction.queries.selectFrom('projects').select('id').where('id', '=', key.projectId);
      await transaction.first(lockForUpdate(project, transaction));
      const others = await transaction.all(this.#ofProject(key.projectId).select('id').limit(maxKeys));
      if (others.length >= maxKeys) return false;
      await transaction.run(
        transaction.queries.insertInto('signing_keys').values({
          id: key.signingKeyId,
          project_id: key.projectId,
          name: key.name,
          algorithm: key.algorithm,
          public_key: key.publicKey,
          created_at_ms: key.createdAtMs,
        }),
      );
      return true;
    });
  }

  async remove({ projectId, signingKeyId }: SigningKey): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .deleteFrom('signing_keys')
        .where('id', '=', signingKeyId)
        .where('project_id', '=', projectId),
    );
  }

  #ofProject(projectId: string) {
    return this.#database.queries.selectFrom('signing_keys').where('project_id', '=', projectId);
  }
}

function keyFrom(row: Row<'signing_keys'>): SigningKey {
  return {
    signingKeyId: row.id,
    projectId: row.project_id,
    name: row.name,
    algorithm: row.algorithm,
    publicKey: row.public_key,
    createdAtMs: row.created_at_ms,
  };
}
