import { AppError, systemCodeOf } from '../shared/errors.ts';
import type { Connection, Transaction } from './connection.ts';
import { textQuery } from './raw-query.ts';

/** `invalid_parameter_value`: a standby that became the primary never saw the transaction. */
const unknownTransaction = '22023';

/** Returns the id of a transaction that writes, for {@link isCommitted}. Undefined on SQLite, whose commits always answer. */
export async function transactionIdOf(transaction: Transaction): Promise<string | undefined> {
  if (transaction.dialect === 'sqlite') return undefined;
  const select = 'SELECT pg_current_xact_id()::text AS id';
  return (await transaction.first(textQuery<{ id: string }>(transaction, select, [])))!.id;
}

/**
 * Tells whether a failed transaction was committed: the connection may break between the commit and its answer.
 * @throws AppError `database-unusable` while PostgreSQL cannot be reached, or still runs the transaction
 */
export async function isCommitted(
  connection: Connection,
  transactionId: string | undefined,
): Promise<boolean> {
  if (transactionId === undefined) return false;
  const select = 'SELECT pg_xact_status(?::xid8) AS status';
  try {
    const row = await connection.first(
      textQuery<{ status: string | null }>(connection, select, [transactionId]),
    );
    if (row?.status === 'in progress')
      throw new AppError('database-unusable', 'PostgreSQL has not ended a transaction of a lost connection.');
    return row?.status === 'committed';
  } catch (error) {
    if (systemCodeOf(error) === unknownTransaction) return false;
    throw error;
  }
}

/** A transaction that may be repeated after it failed, and changes the database once. For what is added to stored numbers. */
export class CommitOnce {
  readonly #connection: Connection;
  readonly #work: (transaction: Transaction) => Promise<void>;
  #transactionId: string | undefined;

  constructor(connection: Connection, work: (transaction: Transaction) => Promise<void>) {
    this.#connection = connection;
    this.#work = work;
  }

  async run(): Promise<void> {
    if (await isCommitted(this.#connection, this.#transactionId)) return;
    await this.#connection.transaction(async transaction => {
      this.#transactionId = await transactionIdOf(transaction);
      await this.#work(transaction);
    });
  }
}
