import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Compilable,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import pg from 'pg';
import { AppError, messageOf, systemCodeOf } from '../../shared/errors.ts';
import type { Queries, Transaction } from '../connection.ts';
import type { DataFolderLock } from '../data-folder-lock.ts';
import type { Database } from '../database.ts';
import type { Tables } from '../tables.ts';
import { runInScope, runShared, share, sharedTransaction, TransactionScope } from '../transaction-scope.ts';
import { poolsTransactions } from './pooler.ts';
import { checkPostgresIsCurrent, migratePostgres } from './postgres-migrations.ts';
import { PostgresSignals } from './postgres-signals.ts';
import { postgresUnusable, reasonOf } from './postgres-unusable.ts';
import { ServerLock } from './server-lock.ts';

const connectTimeoutMs = 10_000;
const idleTimeoutMs = 30_000;
const defaultMaxConnections = 4;
/** For the lock of the server, and for signals. */
const sessionConnections = 2;
/** Opened while all others are in use, and closed soon. One that hangs must not keep the next one. */
const urgentConnections = { max: 3, idleTimeoutMillis: 1_000 };
/** A server that lost its network must not keep rows locked. */
const idleInTransactionTimeoutMs = 60_000;
const statementTimeoutMs = 60_000;
const sessionSettings = `SET statement_timeout = ${statementTimeoutMs}; SET idle_in_transaction_session_timeout = ${idleInTransactionTimeoutMs}`;
/** Response timeout, longer than the server's own limit: it no longer responds, as after a failover. */
const defaultResponseTimeoutMs = 65_000;
const maxAttempts = 5;
const retryDelayMs = 20;
/** Interval of attempts after a failover, until the address leads to the new primary. */
const reconnectEveryMs = 1_000;
const selectIsReadOnly = "SELECT current_setting('transaction_read_only') AS is_read_only";
const readOnlyMessage = 'PostgreSQL is read-only';
/** `serialization_failure` and `deadlock_detected`. */
const retriedCodes: readonly (string | undefined)[] = ['40001', '40P01'];

const pooledAndShared =
  'A connection pooler gives each transaction another connection (pool_mode = transaction of PgBouncer), so that servers that share the database would not hear from each other. Use pool_mode = session, or the address of PostgreSQL itself.';

/** Object ids of PostgreSQL's types. Numbers of this product are below 2^53, and booleans are 0 or 1 as in SQLite. */
const parsers: Readonly<Record<number, (text: string) => unknown>> = {
  16: text => (text === 't' ? 1 : 0),
  20: Number,
  1700: Number,
};

/** Transactions of other nodes run beside one's own: READ COMMITTED. */
class PostgresDatabase implements Database {
  readonly name = 'database';
  readonly dialect = 'postgres';
  readonly signals: PostgresSignals;
  readonly queries: Queries = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: db => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
  readonly #openPool: (options?: pg.PoolConfig) => pg.Pool;
  #pool: pg.Pool;
  #urgentPool: pg.Pool;
  #connectedAtMs = 0;
  readonly #lock: DataFolderLock | undefined;
  readonly #serverLock: ServerLock;
  #end: Promise<unknown> | undefined;

  constructor(options: {
    readonly openPool: (options?: pg.PoolConfig) => pg.Pool;
    /** Settings of connections beside the pools. */
    readonly settings: pg.ClientConfig;
    /** True behind a pooler that assigns connections by transaction. */
    readonly isPooled: boolean;
    readonly lock: DataFolderLock | undefined;
    readonly isShared: boolean;
    readonly onError: (error: Error) => void;
  }) {
    const { openPool, settings, onError } = options;
    this.#openPool = openPool;
    this.#pool = openPool();
    this.#urgentPool = openPool(urgentConnections);
    this.#serverLock = new ServerLock(settings, options);
    this.#lock = options.lock;
    this.signals = new PostgresSignals({
      settings,
      onError,
      queries: this.queries,
      notify: (text, texts) => this.#pool.query(text, [texts]),
      sessionConnection: () => this.#serverLock.connection,
    });
  }

  async all<Row>(query: Compilable<Row>): Promise<Row[]> {
    const shared = sharedTransaction();
    if (shared !== undefined) return shared.all(query);
    return (await this.#executeAlone(this.#pool, query)).rows as Row[];
  }

  async first<Row>(query: Compilable<Row>): Promise<Row | undefined> {
    const shared = sharedTransaction();
    if (shared !== undefined) return shared.first(query);
    return (await this.#executeAlone(this.#pool, query)).rows[0] as Row | undefined;
  }

  async run(query: Compilable): Promise<number> {
    const shared = sharedTransaction();
    if (shared !== undefined) return shared.run(query);
    return (await this.#executeAlone(this.#pool, query)).rowCount ?? 0;
  }

  async runUrgent(query: Compilable): Promise<number> {
    const shared = sharedTransaction();
    if (shared !== undefined) return shared.run(query);
    const { idleCount, totalCount, options } = this.#pool;
    const pool = idleCount > 0 || totalCount < options.max ? this.#pool : this.#urgentPool;
    return (await this.#executeAlone(pool, query)).rowCount ?? 0;
  }

  async transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const shared = sharedTransaction();
    if (shared !== undefined) return runShared(shared, work);
    return retryConflicts(() => this.#attempt(work));
  }

  sharedTransaction<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.transaction(transaction => share(transaction, work));
  }

  afterCommit(listener: () => void): void {
    const shared = sharedTransaction();
    if (shared === undefined) listener();
    else shared.afterCommit(listener);
  }

  async findFault(): Promise<string | undefined> {
    try {
      const { rows } = await this.#pool.query(
        "SELECT current_setting('transaction_read_only') AS is_read_only",
      );
      if (rows[0]?.is_read_only !== 'on') return this.#lock?.findFault();
      this.#reconnect();
      return readOnlyMessage;
    } catch (error) {
      return messageOf(error);
    }
  }

  /**
   * Opens new connections after a failover: those of a primary that became a standby stay open, and the address may lead
   * to another server now.
   */
  #reconnect(): void {
    if (this.#end !== undefined || performance.now() - this.#connectedAtMs < reconnectEveryMs) return;
    this.#connectedAtMs = performance.now();
    for (const pool of [this.#pool, this.#urgentPool]) endOnceUnused(pool);
    this.#pool = this.#openPool();
    this.#urgentPool = this.#openPool(urgentConnections);
    this.#serverLock.reconnect();
    this.signals.reconnect(new Error(readOnlyMessage));
  }

  /** A statement outside a transaction changes many rows, too, and triggers change more. */
  #executeAlone(pool: pg.Pool, query: Compilable): Promise<pg.QueryResult> {
    return retryConflicts(() => this.#execute(pool, query));
  }

  async #execute(client: pg.Pool | pg.ClientBase, query: Compilable): Promise<pg.QueryResult> {
    const { sql, parameters } = query.compile();
    return this.#orAppError(client.query(sql, [...parameters]));
  }

  /**
   * Converts the errors that have an answer of their own.
   * @throws AppError `database-unusable` when PostgreSQL cannot be reached or is read-only, or `disk-full`
   */
  async #orAppError<Result>(answer: Promise<Result>): Promise<Result> {
    try {
      return await answer;
    } catch (error) {
      if (isReadOnly(error)) this.#reconnect();
      throw toAppError(error);
    }
  }

  /** @throws AppError `database-unusable` when another server uses the database */
  async start(): Promise<void> {
    await this.#serverLock.acquire();
    this.signals.useSession();
  }

  async stop(): Promise<void> {
    await this.signals.stop();
    this.#end ??= Promise.all([this.#pool, this.#urgentPool].map(pool => pool.end()));
    await this.#end;
    await this.#serverLock.release();
    this.#lock?.release();
  }

  async #attempt<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const client = await this.#orAppError(this.#pool.connect());
    const scope = new TransactionScope();
    let failure: Error | undefined;
    try {
      await this.#orAppError(client.query('BEGIN'));
      const result = await runInScope(scope, () => work(this.#transactionOf(client, scope)));
      const { command } = await this.#orAppError(client.query('COMMIT'));
      // Detects a rollback: after a failed query, PostgreSQL does it without an error.
      if (command !== 'COMMIT') throw new AppError('server-error', 'The transaction was rolled back.');
      scope.notifyCommitted();
      return result;
    } catch (error) {
      // A connection that cannot roll back is closed, which rolls back, too.
      await client.query('ROLLBACK').catch((fault: Error) => {
        failure = fault;
      });
      throw error;
    } finally {
      client.release(failure);
    }
  }

  #transactionOf(client: pg.PoolClient, scope: TransactionScope): Transaction {
    const { dialect, queries } = this;
    const perform = (query: Compilable) => {
      scope.assertOpen();
      return this.#execute(client, query);
    };
    const transaction: Transaction = {
      dialect,
      queries,
      all: async <Row>(query: Compilable<Row>) => (await perform(query)).rows as Row[],
      first: async <Row>(query: Compilable<Row>) => (await perform(query)).rows[0] as Row | undefined,
      run: async query => (await perform(query)).rowCount ?? 0,
      transaction: work => work(transaction),
      afterCommit: listener => scope.afterCommit(listener),
      lock: async (...key) => {
        scope.assertOpen();
        const text = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';
        await this.#orAppError(client.query(text, [JSON.stringify(key)]));
      },
    };
    return transaction;
  }
}

/** Repeats what PostgreSQL has rolled back because of another transaction. */
async function retryConflicts<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === maxAttempts || !retriedCodes.includes(systemCodeOf(error))) throw error;
      await sleep(Math.random() * retryDelayMs * attempt);
    }
  }
}

/**
 * Connects and migrates, or with `isBesideServer` only checks the schema.
 * @param options.onIdleError an idle connection was lost; the pool opens another one
 * @throws AppError `database-unusable`
 */
export async function connectPostgres(options: {
  readonly url: string;
  /** Released when the database stops. */
  readonly lock?: DataFolderLock | undefined;
  readonly isBesideServer?: boolean;
  /** True when other servers may use it, too. Default false. */
  readonly isShared?: boolean;
  readonly onIdleError?: (error: Error) => void;
  /** A pooler between gives each transaction another connection. */
  readonly onPooled?: () => void;
  /** Timeout of a query; 65 s by default. */
  readonly responseTimeoutMs?: number;
  /** Connections of the pool, 4 by default. One more is for the lock of the server and for signals; behind some poolers, each has one. */
  readonly maxConnections?: number | undefined;
}): Promise<PostgresDatabase> {
  const settings: pg.ClientConfig = {
    connectionString: options.url,
    application_name: 'millrace',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types: { getTypeParser: (id, format) => parsers[id] ?? pg.types.getTypeParser(id, format) },
  };
  const { lock, isShared = false, maxConnections = defaultMaxConnections } = options;
  const onError = (error: Error) => options.onIdleError?.(error);
  const client = new pg.Client(settings);
  client.on('error', () => {});
  try {
    // Before another connection is used, which a pooler may lack.
    const isPooled = await poolsTransactions(
      settings,
      options.isBesideServer === true ? 0 : maxConnections + sessionConnections,
    );
    await client.connect();
    const { rows } = await client.query(selectIsReadOnly);
    if (rows[0]?.is_read_only === 'on') throw Object.assign(new Error(readOnlyMessage), { code: '25006' });
    if (options.isBesideServer === true) await checkPostgresIsCurrent(client);
    else await migratePostgres(client);
    if (isPooled && isShared) throw new AppError('database-unusable', pooledAndShared);
    if (isPooled) options.onPooled?.();
    const openPool = (poolOptions?: pg.PoolConfig) => {
      const pool = new pg.Pool({
        ...settings,
        max: maxConnections,
        idleTimeoutMillis: idleTimeoutMs,
        ...poolOptions,
        query_timeout: options.responseTimeoutMs ?? defaultResponseTimeoutMs,
        // Poolers refuse these among the parameters of a connection. A transaction pooler would give them to others.
        ...(isPooled ? {} : { onConnect: async client => void (await client.query(sessionSettings)) }),
      });
      pool.on('error', onError);
      // The pool listens to idle connections only. The queries of a lost one fail, too.
      pool.on('connect', client => client.on('error', () => {}));
      return pool;
    };
    return new PostgresDatabase({ openPool, settings, isPooled, lock, isShared, onError });
  } catch (error) {
    throw postgresUnusable(options.url, error);
  } finally {
    await client.end();
  }
}

/** Ends a pool that gets no more queries. Those that wait for a connection would never get one after the end. */
function endOnceUnused(pool: pg.Pool): void {
  const end = () => {
    if (pool.waitingCount > 0 || pool.ending) return;
    for (const event of ['acquire', 'remove'] as const) pool.off(event, end);
    void pool.end();
  };
  for (const event of ['acquire', 'remove'] as const) pool.on(event, end);
  end();
}

/** `read_only_sql_transaction`. */
function isReadOnly(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '25006';
}

/** **Source**: PostgreSQL 17, appendix A, "PostgreSQL Error Codes" */
function toAppError(error: unknown): unknown {
  if (error instanceof TypeError) return error;
  // Only the server's errors are of this class: others are about the connection.
  const code = error instanceof pg.DatabaseError ? error.code : '08000';
  if (code === '53100') return new AppError('disk-full', undefined, { cause: error });
  if (code !== undefined && /^(?:08|53|57P|25006)/.test(code)) {
    const message = `PostgreSQL cannot be used now: ${reasonOf(error)}`;
    return new AppError('database-unusable', message, { cause: error });
  }
  return error;
}
