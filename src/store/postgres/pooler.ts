import pg from 'pg';

/**
 * Tells whether a pooler such as PgBouncer in transaction mode gives each transaction another connection of PostgreSQL,
 * so that nothing of a session lasts: no lock, no setting, no LISTEN.
 */
export async function poolsTransactions(settings: pg.ClientConfig): Promise<boolean> {
  const [one, other] = [new pg.Client(settings), new pg.Client(settings)];
  const backendOf = async (client: pg.Client) =>
    (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
  try {
    for (const client of [one, other]) {
      client.on('error', () => {});
      await client.connect();
    }
    const first = await backendOf(one);
    // Holds the connection that the first query used, if that one is free again.
    await other.query('BEGIN');
    return (await backendOf(other)) === first || (await backendOf(one)) !== first;
  } finally {
    await Promise.all([one, other].map(client => client.end().catch(() => {})));
  }
}
