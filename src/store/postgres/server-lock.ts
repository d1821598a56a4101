import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { AppError } from '../../shared/errors.ts';

/** Number of the advisory lock. */
const lockNumber = 7_245_002;
/** A connection that answers nothing is given up. */
const responseTimeoutMs = 4_000;
/** A server that was killed loses the lock when PostgreSQL notices. */
const acquireTimeoutMs = 5_000;
const retryMs = 250;

/**
 * Keeps other servers from using the same database, unless all of them share it: servers with media in their own data folders
 * would miss each other's files. A connection holds the lock; when it is lost, as in a restart of PostgreSQL, another one
 * takes it again. Signals use it, too.
 */
export class ServerLock {
  readonly #settings: pg.ClientConfig;
  readonly #isShared: boolean;
  readonly #isPooled: boolean;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isReleased = false;
  #next = Promise.withResolvers<pg.Client>();
  #isUsed = false;

  /** @param options.isPooled only a transaction keeps its connection of PostgreSQL */
  constructor(
    settings: pg.ClientConfig,
    options: { readonly isShared: boolean; readonly isPooled: boolean },
  ) {
    this.#settings = settings;
    this.#isShared = options.isShared;
    this.#isPooled = options.isPooled;
  }

  /**
   * Returns the connection, once it holds the lock. Undefined while nobody takes the lock, and behind a pooler that assigns
   * connections by transaction.
   */
  get connection(): Promise<pg.Client> | undefined {
    return this.#isUsed && !this.#isPooled && !this.#isReleased ? this.#next.promise : undefined;
  }

  /** @throws AppError `database-unusable` when another server has it, or the error of the connection */
  async acquire(): Promise<void> {
    this.#isUsed = true;
    const endMs = performance.now() + acquireTimeoutMs;
    while (!(await this.#tryAcquire())) {
      if (performance.now() > endMs) {
        throw new AppError(
          'database-unusable',
          'Another server uses this PostgreSQL database. Servers share one only when all of them keep their media in S3-compatible storage (MILLRACE_STORAGE_URL). Stop the other server, or give each one a database of its own.',
        );
      }
      await sleep(retryMs);
    }
  }

  /** Takes the lock over a new connection. */
  reconnect(): void {
    this.#client?.end().catch(() => {});
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => {});
  }

  async #tryAcquire(): Promise<boolean> {
    const client = new pg.Client({
      ...this.#settings,
      application_name: 'millrace session',
      connectionTimeoutMillis: responseTimeoutMs,
      query_timeout: responseTimeoutMs,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      if (this.#isPooled) await client.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
      const take = `pg_try_advisory${this.#isPooled ? '_xact' : ''}_lock${this.#isShared ? '_shared' : ''}`;
      const { rows } = await client.query<{ taken: boolean | number }>(`SELECT ${take}($1) AS taken`, [
        lockNumber,
      ]);
      if (!rows[0]?.taken || this.#isReleased) {
        await client.end();
        return false;
      }
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    client.once('end', () => this.#acquireAgain());
    this.#client = client;
    this.#next.resolve(client);
    return true;
  }

  #acquireAgain(): void {
    if (this.#client !== undefined) this.#next = Promise.withResolvers();
    this.#client = undefined;
    if (this.#isReleased) return;
    this.#timer = setTimeout(() => {
      this.#tryAcquire().then(
        isTaken => isTaken || this.#acquireAgain(),
        () => this.#acquireAgain(),
      );
    }, retryMs);
  }
}
