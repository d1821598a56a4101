import { type Clock, systemClock } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { randomBase62 } from '../../shared/ids.ts';
import { Secret } from '../../shared/secret.ts';
import type { Database } from '../../store/database.ts';
import { AccountsStore } from './accounts.store.ts';
import { openAccount } from './open-account.ts';

/** What the first account shall have; what is not given is made up. */
export interface BootstrapOptions {
  readonly sandboxKey?: Secret;
  readonly productionKey?: Secret;
  readonly isUpgraded: boolean;
  readonly adminEmail: string;
  readonly adminPassword?: Secret;
  readonly clock?: Clock;
}

/** What to print, once: nothing else knows these texts afterwards. */
export interface FirstSecrets {
  readonly sandboxKey: Secret;
  readonly productionKey: Secret;
  readonly adminEmail: string;
  readonly adminPassword: Secret;
}

/**
 * Makes the first account with a pair of API keys and a dashboard user, when the database has no account yet.
 *
 * @returns its secrets, or undefined when there was nothing to do
 * @throws AppError `config-invalid` when a given key could never be used
 */
export async function bootstrapAccount(
  database: Database,
  options: BootstrapOptions,
): Promise<FirstSecrets | undefined> {
  const accounts = new AccountsStore(database);
  if (!accounts.isEmpty()) return undefined;
  const secrets: FirstSecrets = {
    sandboxKey: options.sandboxKey ?? new Secret(randomBase62(43)),
    productionKey: options.productionKey ?? new Secret(randomBase62(43)),
    adminEmail: options.adminEmail,
    adminPassword: options.adminPassword ?? new Secret(randomBase62(20)),
  };
  checkKeys(secrets.sandboxKey.reveal(), secrets.productionKey.reveal());
  await openAccount(database, {
    email: options.adminEmail,
    isUpgraded: options.isUpgraded,
    keys: { sandbox: secrets.sandboxKey.reveal(), production: secrets.productionKey.reveal() },
    password: secrets.adminPassword.reveal(),
    atMs: (options.clock ?? systemClock).nowMs(),
  });
  return secrets;
}

/** A caller sends a key as the user name of a Basic credential, which ends at the first colon. */
function checkKeys(...keys: string[]): void {
  if (keys.some(key => !/^[\x21-\x39\x3b-\x7e]+$/.test(key))) {
    throw new AppError(
      'config-invalid',
      'A bootstrap API key must be of printable ASCII without spaces and colons.',
    );
  }
  if (new Set(keys).size < keys.length) {
    throw new AppError('config-invalid', 'The bootstrap API keys of sandbox and production must differ.');
  }
}
