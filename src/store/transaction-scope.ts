import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError } from '../shared/errors.ts';
import type { Transaction } from './connection.ts';

/** An open transaction, and what is to be done after its commit. */
export class TransactionScope {
  readonly #listeners: (() => void)[] = [];
  #isOpen = true;

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** @throws AppError `server-error` when the transaction has ended */
  assertOpen(): void {
    if (!this.#isOpen) throw new AppError('server-error', 'The transaction has ended.');
  }

  afterCommit(listener: () => void): void {
    this.assertOpen();
    this.#listeners.push(listener);
  }

  end(): void {
    this.#isOpen = false;
  }

  /** Calls all listeners. @throws the first error of one */
  notifyCommitted(): void {
    const errors: unknown[] = [];
    for (const listener of this.#listeners) {
      try {
        listener();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

interface Current {
  readonly scope: TransactionScope;
  readonly shared?: SharedTransaction;
}

interface SharedTransaction {
  /** Queries without a handle belong to it. */
  readonly transaction: Transaction;
  isRunning: boolean;
  /** A part of it failed: the rest must not be committed. */
  failure?: { readonly error: unknown };
}

const current = new AsyncLocalStorage<Current>();

/** Ends `scope` when `work` does. */
export async function runInScope<Result>(
  scope: TransactionScope,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await current.run({ scope }, work);
  } finally {
    scope.end();
  }
}

/** Runs `work` within `transaction`: its queries without a handle belong to it. @throws the error of a part that failed */
export async function share<Result>(transaction: Transaction, work: () => Promise<Result>): Promise<Result> {
  const { scope } = current.getStore()!;
  const shared: SharedTransaction = { transaction, isRunning: true };
  try {
    const result = await current.run({ scope, shared }, work);
    if (shared.failure !== undefined) throw shared.failure.error;
    return result;
  } finally {
    // From now on, code that `work` started and did not wait for is on its own.
    shared.isRunning = false;
  }
}

/**
 * Call this before each query without a handle. Returns the shared transaction that it belongs to.
 * @throws AppError `server-error` in a transaction that is not shared: beside it, code would read old rows, or wait for itself
 */
export function sharedTransaction(): Transaction | undefined {
  const { scope, shared } = current.getStore() ?? {};
  if (shared !== undefined) return shared.isRunning ? shared.transaction : undefined;
  if (scope?.isOpen !== true) return undefined;
  throw new AppError('server-error', 'A query within a transaction must use the handle of the transaction.');
}

/** Runs `work` as a part of the shared transaction. */
export async function runShared<Result>(
  transaction: Transaction,
  work: (transaction: Transaction) => Promise<Result>,
): Promise<Result> {
  const { scope, shared } = current.getStore()!;
  try {
    return await current.run({ scope }, () => work(transaction));
  } catch (error) {
    if (shared !== undefined) shared.failure = { error };
    throw error;
  }
}
