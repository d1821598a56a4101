import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { messageOf } from '../../shared/errors.ts';
import { randomBase62 } from '../../shared/ids.ts';
import { CoalescedTask } from '../../shared/scheduling/coalesced-task.ts';
import {
  doublingDelaysMs,
  type RetrySchedule,
  retryDelayMs,
} from '../../shared/scheduling/retry-schedule.ts';
import type { Connection, Queries } from '../connection.ts';
import { rawQuery } from '../raw-query.ts';
import { LocalSignals, type SignalName, type Signals } from '../signals.ts';

const channel = 'millrace';
/** A connection that answers nothing is given up after both. */
const keepAliveEveryMs = 5_000;
const responseTimeoutMs = 4_000;
const retries: RetrySchedule = {
  delaysMs: doublingDelaysMs(250, 4_000),
  jitter: { min: 0.5, max: 1 },
};
/** Maximum queued signals. More are dropped: they are hints, and whoever listens also reads from time to time. */
const maxQueued = 10_000;
const maxBatch = 500;
/**
 * Sent by the commit itself, so that a revoked key or a changed setting is known even when the server dies then. Commits with a notification run
 * one after the other in all of PostgreSQL, so the others are sent after the commit, and many at a time.
 */
const sentByCommit: readonly SignalName[] = ['access', 'settings'];

/** Delivers to this server at once, and to the others through LISTEN and NOTIFY. */
export class PostgresSignals implements Signals {
  readonly #settings: pg.ClientConfig;
  readonly #queries: Queries;
  readonly #notify: (texts: readonly string[]) => Promise<unknown>;
  readonly #onError: (error: Error) => void;
  readonly #sessionConnection: () => Promise<pg.Client> | undefined;
  readonly #local = new LocalSignals();
  readonly #origin = randomBase62(8);
  readonly #queued = new Set<string>();
  readonly #sending = new CoalescedTask(() => this.#send());
  readonly #stopping = new AbortController();
  #receiving: Promise<void> | undefined;
  #disconnect: ((error: Error) => void) | undefined;
  #leave = () => {};

  /**
   * @param options.notify sends each text to the channel
   * @param options.sessionConnection a connection of this server that lasts; undefined without one
   */
  constructor(options: {
    readonly settings: pg.ClientConfig;
    readonly queries: Queries;
    readonly notify: (sql: string, texts: readonly string[]) => Promise<unknown>;
    readonly onError: (error: Error) => void;
    readonly sessionConnection: () => Promise<pg.Client> | undefined;
  }) {
    this.#settings = options.settings;
    this.#queries = options.queries;
    this.#notify = texts =>
      options.notify(`SELECT pg_notify('${channel}', item) FROM unnest($1::text[]) AS item`, texts);
    this.#onError = options.onError;
    this.#sessionConnection = options.sessionConnection;
  }

  async send(name: SignalName, payload: string, connection?: Connection): Promise<void> {
    const text = `${this.#origin} ${name} ${payload}`;
    if (connection === undefined) {
      this.#local.deliver(name, payload);
      this.#queue(text);
    } else if (sentByCommit.includes(name)) {
      await connection.all(rawQuery(this.#queries, sql`SELECT pg_notify(${channel}, ${text})`));
      connection.afterCommit(() => this.#local.deliver(name, payload));
    } else {
      connection.afterCommit(() => {
        this.#local.deliver(name, payload);
        this.#queue(text);
      });
    }
  }

  listen(name: SignalName, listener: (payload: string | undefined) => void): () => void {
    this.#receiving ??= this.#receive();
    return this.#local.listen(name, listener);
  }

  /** Listens over a new connection. */
  reconnect(reason: Error): void {
    this.#disconnect?.(reason);
  }

  /** Listens over the connection of the session from now on. */
  useSession(): void {
    this.#leave();
  }

  /** Sends what is queued. */
  async stop(): Promise<void> {
    await this.#sending.idle();
    if (this.#queued.size > 0) await this.#send();
    this.#sending.cancel();
    this.#stopping.abort();
    await this.#receiving;
  }

  #queue(text: string): void {
    if (this.#stopping.signal.aborted || this.#queued.size >= maxQueued) return;
    this.#queued.add(text);
    this.#sending.request();
  }

  async #send(): Promise<void> {
    while (this.#queued.size > 0) {
      const texts = [...this.#queued].slice(0, maxBatch);
      for (const text of texts) this.#queued.delete(text);
      try {
        await this.#notify(texts);
      } catch (error) {
        this.#onError(error as Error);
      }
    }
  }

  /** Connects again until the stop. */
  async #receive(): Promise<void> {
    const { signal } = this.#stopping;
    for (let failures = 0; !signal.aborted; ) {
      const session = this.#sessionConnection();
      const client = session === undefined ? this.#newClient() : await orAborted(session, signal);
      if (client === undefined) return;
      let isLost = false;
      try {
        if (session === undefined) await client.connect();
        await this.#receiveFrom(client, session === undefined, () => {
          failures = 0;
        });
      } catch (error) {
        isLost = true;
        failures += 1;
        if (!signal.aborted) this.#onError(error as Error);
      }
      // Closes without waiting: a connection that no longer answers does not end in time.
      if (isLost || session === undefined) client.end().catch(() => {});
      if (failures > 0) await sleep(retryDelayMs(retries, failures), undefined, { signal }).catch(() => {});
    }
  }

  #newClient(): pg.Client {
    const client = new pg.Client({
      ...this.#settings,
      application_name: 'millrace signals',
      connectionTimeoutMillis: responseTimeoutMs,
      query_timeout: responseTimeoutMs,
    });
    client.on('error', () => {});
    return client;
  }

  /** Resolves at the stop, or when it is to use another connection. @throws Error when the connection is lost */
  async #receiveFrom(client: pg.Client, isOwn: boolean, connected: () => void): Promise<void> {
    const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
    // Awaited below, once it listens.
    ended.catch(() => {});
    this.#disconnect = reject;
    this.#leave = resolve;
    const { signal } = this.#stopping;
    const end = () => reject(new Error('the connection for signals ended'));
    const deliver = ({ payload }: pg.Notification) => this.#deliver(payload);
    const stop = () => resolve();
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    client.on('error', reject);
    client.on('end', end);
    client.on('notification', deliver);
    let timer: NodeJS.Timeout | undefined;
    try {
      await client.query(`LISTEN ${channel}`);
      connected();
      this.#local.deliverAll();
      // The session may have begun meanwhile.
      if (isOwn && this.#sessionConnection() !== undefined) return;
      timer = setInterval(() => client.query('SELECT 1').catch(reject), keepAliveEveryMs);
      await ended;
    } finally {
      clearInterval(timer);
      signal.removeEventListener('abort', stop);
      client.off('error', reject);
      client.off('end', end);
      client.off('notification', deliver);
    }
  }

  #deliver(text = ''): void {
    const [, origin, name, payload] = /^(\S+) (\S+) (.*)$/s.exec(text) ?? [];
    if (name === undefined || origin === this.#origin) return;
    try {
      this.#local.deliver(name as SignalName, payload);
    } catch (error) {
      // Any user of the database can send one, and a server of another version one that is different.
      this.#onError(new Error(`the signal ${name} cannot be read: ${messageOf(error)}`, { cause: error }));
    }
  }
}

/** Undefined when `signal` aborts first. */
function orAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  return new Promise(resolve => {
    const stop = () => resolve(undefined);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    void value.then(resolve).finally(() => signal.removeEventListener('abort', stop));
  });
}
