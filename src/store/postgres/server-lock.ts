import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { AppError } from '../../shared/errors.ts';

/** Number of the advisory lock. */
const lockNumber = 7_245_002;
/** A server that was killed loses the lock when PostgreSQL notices. */
const acquireTimeoutMs = 5_000;
const retryMs = 250;

/**
 * Keeps a second server from using the same database: servers cannot share jobs and broadcasts. A connection holds the
 * lock; when it is lost, as in a restart of PostgreSQL, another one takes it again.
 */
export class ServerLock {
  readonly #settings: pg.ClientConfig;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isReleased = false;

  constructor(settings: pg.ClientConfig) {
    this.#settings = settings;
  }

  /** @throws AppError `database-unusable` when another server has it, or the error of the connection */
  async acquire(): Promise<void> {
    const endMs = performance.now() + acquireTimeoutMs;
    while (!(await this.#tryAcquire())) {
      if (performance.now() > endMs) {
        throw new AppError(
          'database-unusable',
          'Another server uses this PostgreSQL database. Stop it, or give each server a database of its own.',
        );
      }
      await sleep(retryMs);
    }
  }

  async release(): Promise<void> {
    this.#isReleased = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => {});
  }

  async #tryAcquire(): Promise<boolean> {
    const client = new pg.Client(this.#settings);
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query<{ taken: boolean | number }>(
        'SELECT pg_try_advisory_lock($1) AS taken',
        [lockNumber],
      );
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
    return true;
  }

  #acquireAgain(): void {
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
