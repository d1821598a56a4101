import { AsyncLocalStorage } from 'node:async_hooks';
import { AppError } from '../shared/errors.ts';

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

const current = new AsyncLocalStorage<TransactionScope>();

/** Ends `scope` when `work` does. */
export async function runInScope<Result>(
  scope: TransactionScope,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await current.run(scope, work);
  } finally {
    scope.end();
  }
}

/**
 * Call this before each query outside a transaction: beside its own transaction, code would read old rows, or wait for
 * itself. @throws AppError `server-error`
 */
export function assertOutsideTransaction(): void {
  if (current.getStore()?.isOpen === true) {
    throw new AppError(
      'server-error',
      'A query within a transaction must use the handle of the transaction.',
    );
  }
}
