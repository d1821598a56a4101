import { listScopes, type Scope, scopeSet } from '../../../http/routing/scope.ts';
import { newId } from '../../../shared/ids.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Environment } from '../../../store/tables.ts';
import { hashOfSecret } from './account.ts';
import { type ApiKey, type KeyPair, parseScopes } from './key-pair.ts';
import { selectUnclaimed } from './unverified-changes.store.ts';

const hintLength = 4;
/** The hint of a shorter key would reveal it. */
const minHintedKeyLength = 12;

interface PairRow {
  id: string;
  account_id: string;
  name: string | null;
  created_at_ms: number;
  scopes: string;
}

interface KeyRow {
  pair_id: string;
  id: string;
  project_id: string;
  environment: Environment;
  hint: string | null;
  created_at_ms: number;
  last_used_at_ms: number | null;
}

interface NewKey {
  readonly projectId: string;
  readonly text: string;
  /** The user who creates it, also with another key, if it is known. */
  readonly userId?: string | undefined;
}

/** Stores only hashes. Change keys within `AccountsStore.changeAccess`. */
export class KeyPairsStore {
  readonly #database: Connection;

  constructor(database: Connection) {
    this.#database = database;
  }

  /** Lists the keys of both environments of the project. */
  async list(projectId: string): Promise<KeyPair[]> {
    const rows = await this.#database.all(
      selectPairs(this.#database, projectId).orderBy('created_at_ms').orderBy('id'),
    );
    const keys = await this.#database.all(selectKeys(this.#database, projectId));
    const halves = Map.groupBy(keys, half => half.pair_id);
    return rows.map(row => pairFrom(row, halves.get(row.id) ?? []));
  }

  /** @param projectId either environment of the project that the pair belongs to */
  async find(
    projectId: string,
    keyPairId: string,
    connection: Connection = this.#database,
  ): Promise<KeyPair | undefined> {
    const row = await connection.first(selectPairs(connection, projectId).where('id', '=', keyPairId));
    if (row === undefined) return undefined;
    return pairFrom(
      row,
      await connection.all(selectKeys(connection, projectId).where('k.pair_id', '=', row.id)),
    );
  }

  async countKeys(projectId: string, connection: Connection = this.#database): Promise<number> {
    const counted = connection.queries
      .selectFrom('api_keys')
      .select(expression => expression.fn.countAll<number>().as('total'))
      .where('project_id', '=', projectId)
      .where('revoked_at_ms', 'is', null);
    return (await connection.first(counted))?.total ?? 0;
  }

  async add(
    pair: {
      accountId: string;
      name?: string | undefined;
      createdAtMs: number;
      scopes: readonly Scope[];
      keys: readonly NewKey[];
    },
    transaction: Transaction,
  ): Promise<string> {
    const keyPairId = newId('kp');
    await transaction.run(
      transaction.queries.insertInto('key_pairs').values({
        id: keyPairId,
        account_id: pair.accountId,
        name: pair.name ?? null,
        created_at_ms: pair.createdAtMs,
        scopes: scopesText(pair.scopes),
      }),
    );
    for (const key of pair.keys) await this.#addKey(keyPairId, key, pair.createdAtMs, transaction);
    return keyPairId;
  }

  async rename(keyPairId: string, name: string | null, transaction: Transaction): Promise<void> {
    await transaction.run(
      transaction.queries.updateTable('key_pairs').set({ name }).where('id', '=', keyPairId),
    );
  }

  async setScopes(keyPairId: string, given: readonly Scope[], transaction: Transaction): Promise<void> {
    const update = transaction.queries.updateTable('key_pairs').set({ scopes: scopesText(given) });
    await transaction.run(update.where('id', '=', keyPairId));
  }

  async replaceKey(pair: KeyPair, key: NewKey, atMs: number, transaction: Transaction): Promise<void> {
    for (const half of Object.values(pair.keys)) {
      if (half.projectId === key.projectId) await this.#revokeKey(half, atMs, transaction);
    }
    await this.#addKey(pair.keyPairId, key, atMs, transaction);
  }

  /** Revokes keys with all their tokens. Removes a pair without keys. */
  async revoke(
    pair: KeyPair,
    halves: readonly ApiKey[],
    atMs: number,
    transaction: Transaction,
  ): Promise<void> {
    const { queries } = transaction;
    for (const half of halves) await this.#revokeKey(half, atMs, transaction);
    const left = queries.selectFrom('api_keys').select('id').where('pair_id', '=', pair.keyPairId).limit(1);
    if ((await transaction.first(left)) !== undefined) return;
    await transaction.run(queries.deleteFrom('key_pairs').where('id', '=', pair.keyPairId));
  }

  /** Revokes all keys that the user created, and those of accounts that no verified user has owned. Returns their number. */
  async revokeOfUser(userId: string, atMs: number, transaction: Transaction): Promise<number> {
    const { queries } = transaction;
    const unclaimed = queries
      .selectFrom('projects')
      .select('id')
      .where('account_id', 'in', selectUnclaimed(userId, transaction));
    const keys = await transaction.all(
      queries
        .selectFrom('api_keys')
        .select(['id', 'pair_id'])
        .where('revoked_at_ms', 'is', null)
        .where(({ eb, or }) => or([eb('user_id', '=', userId), eb('project_id', 'in', unclaimed)])),
    );
    for (const { id, pair_id: pairId } of keys) {
      await this.#revokeKey({ apiKeyId: id }, atMs, transaction);
      const left = queries.selectFrom('api_keys').select('id').where('pair_id', '=', pairId);
      const empty = queries.deleteFrom('key_pairs').where('id', '=', pairId);
      await transaction.run(empty.where(({ not, exists }) => not(exists(left))));
    }
    return keys.length;
  }

  /** Keys of accounts that the user owns, of which it is not known who created them. */
  async countUnknown(userId: string, transaction: Transaction): Promise<number> {
    const counted = transaction.queries
      .selectFrom('members as m')
      .innerJoin('projects as p', 'p.account_id', 'm.account_id')
      .innerJoin('api_keys as k', 'k.project_id', 'p.id')
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .where('m.user_id', '=', userId)
      .where('m.role', '=', 'owner')
      .where('k.user_id', 'is', null)
      .where('k.revoked_at_ms', 'is', null);
    return Number((await transaction.first(counted))?.total ?? 0);
  }

  async touch(apiKeyId: string, atMs: number): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .updateTable('api_keys')
        .set({ last_used_at_ms: atMs })
        .where('id', '=', apiKeyId),
    );
  }

  async isValid(apiKeyId: string, transaction: Transaction): Promise<boolean> {
    const key = transaction.queries.selectFrom('api_keys').select('id').where('id', '=', apiKeyId);
    return (await transaction.first(key.where('revoked_at_ms', 'is', null))) !== undefined;
  }

  async nextKeyId(apiKeyId: string): Promise<string | undefined> {
    const next = this.#database.queries
      .selectFrom('api_keys')
      .select('id')
      .where('id', '>', apiKeyId)
      .orderBy('id')
      .limit(1);
    return (await this.#database.first(next))?.id;
  }

  removeRevoked(connection: Connection = this.#database): Promise<number> {
    return connection.run(connection.queries.deleteFrom('api_keys').where('revoked_at_ms', 'is not', null));
  }

  async #addKey(
    keyPairId: string,
    { projectId, text, userId }: NewKey,
    createdAtMs: number,
    transaction: Transaction,
  ): Promise<void> {
    await transaction.run(
      transaction.queries.insertInto('api_keys').values({
        id: newId('ak'),
        pair_id: keyPairId,
        project_id: projectId,
        key_hash: hashOfSecret(text),
        hint: text.length < minHintedKeyLength ? null : text.slice(-hintLength),
        created_at_ms: createdAtMs,
        last_used_at_ms: null,
        revoked_at_ms: null,
        user_id: userId ?? null,
      }),
    );
  }

  async #revokeKey(
    { apiKeyId }: Pick<ApiKey, 'apiKeyId'>,
    atMs: number,
    transaction: Transaction,
  ): Promise<void> {
    await transaction.run(
      transaction.queries
        .updateTable('api_keys')
        .set({ pair_id: apiKeyId, revoked_at_ms: atMs })
        .where('id', '=', apiKeyId),
    );
  }
}

function selectPairs(connection: Connection, projectId: string) {
  const keys = keysOf(connection, projectId).select('k.pair_id');
  return connection.queries
    .selectFrom('key_pairs')
    .select(['id', 'account_id', 'name', 'created_at_ms', 'scopes'])
    .where('id', 'in', keys);
}

/** Selects from the keys of both environments of the project. */
function keysOf({ queries }: Connection, projectId: string) {
  return queries
    .selectFrom('projects as own')
    .innerJoin('projects as p', 'p.pair_id', 'own.pair_id')
    .innerJoin('api_keys as k', 'k.project_id', 'p.id')
    .where('own.id', '=', projectId)
    .where('k.revoked_at_ms', 'is', null);
}

function selectKeys(connection: Connection, projectId: string) {
  return keysOf(connection, projectId).select([
    'k.pair_id',
    'k.id',
    'k.project_id',
    'p.environment',
    'k.hint',
    'k.created_at_ms',
    'k.last_used_at_ms',
  ]);
}

function pairFrom(row: PairRow, halves: readonly KeyRow[]): KeyPair {
  return {
    keyPairId: row.id,
    accountId: row.account_id,
    name: row.name ?? undefined,
    createdAtMs: row.created_at_ms,
    scopes: parseScopes(row.scopes),
    keys: Object.fromEntries(halves.map(half => [half.environment, keyFrom(half)])),
  };
}

/** Stores what `admin` includes, too, so that lists show it. */
function scopesText(given: readonly Scope[]): string {
  return listScopes(scopeSet(given)).join(' ');
}

function keyFrom(row: KeyRow): ApiKey {
  return {
    apiKeyId: row.id,
    projectId: row.project_id,
    environment: row.environment,
    hint: row.hint ?? undefined,
    createdAtMs: row.created_at_ms,
    lastUsedAtMs: row.last_used_at_ms ?? undefined,
  };
}
