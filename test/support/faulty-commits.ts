import { AppError } from '../../src/shared/errors.ts';
import type { Database } from '../../src/store/database.ts';

/** A database whose transactions fail: before they change something, or after their commit, as when its answer is lost. */
export function withFaultyCommits(database: Database): {
  readonly database: Database;
  fault: 'before' | 'after' | undefined;
} {
  const failing = () => {
    throw new AppError('database-unusable', 'Connection terminated unexpectedly');
  };
  const faulty = {
    fault: undefined as 'before' | 'after' | undefined,
    database: new Proxy(database, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return async (...given: unknown[]) => {
          if (name === 'transaction' && faulty.fault === 'before') failing();
          const result = await Reflect.apply(value, target, given);
          if (name === 'transaction' && faulty.fault === 'after') failing();
          return result;
        };
      },
    }),
  };
  return faulty;
}
