import { newId } from '../../shared/ids.ts';
import type { Environment } from '../../store/account-tables.ts';
import type { Database } from '../../store/database.ts';
import { hashOfSecret } from './account.ts';
import type { ApiKey, KeyPair } from './key-pair.ts';

const hintLength = 4;
/** The hint of a shorter key would reveal it. */
const minHintedKeyLength = 12;

interface PairRow {
  id: string;
  account_id: string;
  name: string | null;
  created_at_ms: number;
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
}

/** Stores only hashes. Call `AccountsStore.clearOwnerCache` after a change. */
export class KeyPairsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  listByAccount(accountId: string): KeyPair[] {
    const rows = this.#database.all(this.#pairQuery(accountId).orderBy('created_at_ms').orderBy('id'));
    const halves = Map.groupBy(this.#keyRows(accountId), half => half.pair_id);
    return rows.map(row => pairFrom(row, halves.get(row.id) ?? []));
  }

  find(accountId: string, keyPairId: string): KeyPair | undefined {
    const row = this.#database.first(this.#pairQuery(accountId).where('id', '=', keyPairId));
    if (row === undefined) return undefined;
    const halves = this.#keyRows(accountId).filter(half => half.pair_id === row.id);
    return pairFrom(row, halves);
  }

  countKeys(projectId: string): number {
    const { queries } = this.#database;
    const counted = queries
      .selectFrom('api_keys')
      .select(expression => expression.fn.countAll<number>().as('total'))
      .where('project_id', '=', projectId)
      .where('revoked_at_ms', 'is', null);
    return this.#database.first(counted)?.total ?? 0;
  }

  projectIdsOf(accountId: string): Record<Environment, string> {
    const { queries } = this.#database;
    const rows = this.#database.all(
      queries.selectFrom('projects').select(['id', 'environment']).where('account_id', '=', accountId),
    );
    const ids = Object.fromEntries(rows.map(row => [row.environment, row.id]));
    return ids as Record<Environment, string>;
  }

  add(pair: {
    accountId: string;
    name?: string | undefined;
    createdAtMs: number;
    keys: readonly NewKey[];
  }): string {
    const keyPairId = newId('kp');
    this.#database.transaction(() => {
      this.#database.run(
        this.#database.queries.insertInto('key_pairs').values({
          id: keyPairId,
          account_id: pair.accountId,
          name: pair.name ?? null,
          created_at_ms: pair.createdAtMs,
        }),
      );
      for (const key of pair.keys) this.#addKey(keyPairId, key, pair.createdAtMs);
    });
    return keyPairId;
  }

  rename(keyPairId: string, name: string | null): void {
    this.#database.run(
      this.#database.queries.updateTable('key_pairs').set({ name }).where('id', '=', keyPairId),
    );
  }

  replaceKey(pair: KeyPair, key: NewKey, atMs: number): void {
    this.#database.transaction(() => {
      for (const half of Object.values(pair.keys)) {
        if (half.projectId === key.projectId) this.#revokeKey(half, atMs);
      }
      this.#addKey(pair.keyPairId, key, atMs);
    });
  }

  /** Revokes keys with all their tokens. Removes a pair without keys. */
  revoke(pair: KeyPair, halves: readonly ApiKey[], atMs: number): void {
    const { queries } = this.#database;
    this.#database.transaction(() => {
      for (const half of halves) this.#revokeKey(half, atMs);
      const left = queries.selectFrom('api_keys').select('id').where('pair_id', '=', pair.keyPairId).limit(1);
      if (this.#database.first(left) !== undefined) return;
      this.#database.run(queries.deleteFrom('key_pairs').where('id', '=', pair.keyPairId));
    });
  }

  touch(apiKeyId: string, atMs: number): void {
    this.#database.run(
      this.#database.queries
        .updateTable('api_keys')
        .set({ last_used_at_ms: atMs })
        .where('id', '=', apiKeyId),
    );
  }

  nextKeyId(apiKeyId: string): string | undefined {
    const next = this.#database.queries
      .selectFrom('api_keys')
      .select('id')
      .where('id', '>', apiKeyId)
      .orderBy('id')
      .limit(1);
    return this.#database.first(next)?.id;
  }

  removeRevoked(): number {
    return this.#database.run(
      this.#database.queries.deleteFrom('api_keys').where('revoked_at_ms', 'is not', null),
    );
  }

  #addKey(keyPairId: string, { projectId, text }: NewKey, createdAtMs: number): void {
    this.#database.run(
      this.#database.queries.insertInto('api_keys').values({
        id: newId('ak'),
        pair_id: keyPairId,
        project_id: projectId,
        key_hash: hashOfSecret(text),
        hint: text.length < minHintedKeyLength ? null : text.slice(-hintLength),
        created_at_ms: createdAtMs,
        last_used_at_ms: null,
        revoked_at_ms: null,
      }),
    );
  }

  #revokeKey({ apiKeyId }: ApiKey, atMs: number): void {
    this.#database.run(
      this.#database.queries
        .updateTable('api_keys')
        .set({ pair_id: apiKeyId, revoked_at_ms: atMs })
        .where('id', '=', apiKeyId),
    );
  }

  #pairQuery(accountId: string) {
    return this.#database.queries
      .selectFrom('key_pairs')
      .select(['id', 'account_id', 'name', 'created_at_ms'])
      .where('account_id', '=', accountId);
  }

  #keyRows(accountId: string): KeyRow[] {
    return this.#database.all(
      this.#database.queries
        .selectFrom('projects as p')
        .innerJoin('api_keys as k', 'k.project_id', 'p.id')
        .select([
          'k.pair_id',
          'k.id',
          'k.project_id',
          'p.environment',
          'k.hint',
          'k.created_at_ms',
          'k.last_used_at_ms',
        ])
        .where('p.account_id', '=', accountId)
        .where('k.revoked_at_ms', 'is', null),
    );
  }
}

function pairFrom(row: PairRow, halves: readonly KeyRow[]): KeyPair {
  return {
    keyPairId: row.id,
    accountId: row.account_id,
    name: row.name ?? undefined,
    createdAtMs: row.created_at_ms,
    keys: Object.fromEntries(halves.map(half => [half.environment, keyFrom(half)])),
  };
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
