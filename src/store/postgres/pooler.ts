import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { AppError } from '../../shared/errors.ts';

const answerTimeoutMs = 10_000;
/** A query has no connection when others are answered meanwhile, one a second: the machine is not just slow. */
const maxAnswersMeanwhile = 5;
const askAgainMs = 1_000;
/** One for the lock of the server, and one for all others in turn. */
const minPooledConnections = 2;
const isWaiting = Symbol('waiting');

/**
 * Tells whether a pooler such as PgBouncer in transaction mode gives each transaction another connection of PostgreSQL,
 * so that nothing of a session lasts: no lock, no setting, no LISTEN.
 * @param minConnections of a server, unless they are pooled so; 0 does not check that there are enough
 * @throws AppError `database-unusable` when a pooler has too few connections: queries would wait for others to end
 */
export async function poolsTransactions(settings: pg.ClientConfig, minConnections: number): Promise<boolean> {
  const clients = Array.from({ length: Math.max(2, minConnections) }, () => {
    const client = new pg.Client({ ...settings, query_timeout: answerTimeoutMs });
    client.on('error', () => {});
    return client;
  });
  const [one, other, ...more] = clients as [pg.Client, pg.Client, ...pg.Client[]];
  try {
    await one.connect();
    await other.connect();
    const first = await backendOf(one);
    // Holds the connection that the first query used, if that one is free again.
    await answerBeside(one, other.query('BEGIN'));
    const held = await backendOf(other);
    const again = await answerBeside(other, backendOf(one));
    const isPooled = held === first || again !== first;
    // Poolers give out numbers of their own for cancelling queries.
    const hasPooler = first !== (one as { processID?: number | null }).processID;
    if (hasPooler && !isPooled && minConnections > 0) await checkRoom(one, more);
    return isPooled;
  } catch (error) {
    if (error !== isWaiting && !(error instanceof Error && error.message === 'Query read timeout'))
      throw error;
    const counts = `${Math.max(2, minConnections)} with pool_mode = session, or ${minPooledConnections} with pool_mode = transaction`;
    throw new AppError(
      'database-unusable',
      `PostgreSQL answers only some of the connections. A connection pooler between has too few: each server needs ${counts}. Raise default_pool_size of PgBouncer, lower MILLRACE_DATABASE_MAX_CONNECTIONS, or use the address of PostgreSQL itself.`,
      { cause: error },
    );
  } finally {
    await Promise.all(clients.map(client => client.end().catch(() => {})));
  }
}

/** Refused connections do not count: PostgreSQL may have room for them later. */
async function checkRoom(answered: pg.Client, more: readonly pg.Client[]): Promise<void> {
  const answers = more.map(client => client.connect().then(() => client.query('BEGIN')));
  await answerBeside(answered, Promise.allSettled(answers));
}

/** @throws `isWaiting` when `client` is answered again and again, and the query is not */
async function answerBeside<Answer>(client: pg.Client, query: Promise<Answer>): Promise<Answer> {
  const askAgain = async () => {
    await sleep(askAgainMs, undefined, { ref: false });
    await client.query('SELECT 1');
    return isWaiting;
  };
  for (let answers = 0; answers < maxAnswersMeanwhile; answers += 1) {
    const answer = await Promise.race([query, askAgain()]);
    if (answer !== isWaiting) return answer as Answer;
  }
  throw isWaiting;
}

async function backendOf(client: pg.Client): Promise<number | undefined> {
  return (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
}
