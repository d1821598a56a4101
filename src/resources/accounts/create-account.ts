import type { Environment } from '../../store/account-tables.ts';
import type { Database } from '../../store/database.ts';
import { AccountsStore } from './accounts.store.ts';
import { environments } from './key-pair.ts';
import { KeyPairsStore } from './key-pairs.store.ts';
import { hashPassword } from './password.ts';

interface NewAccount {
  readonly email: string;
  readonly isUpgraded: boolean;
  readonly keys: Readonly<Record<Environment, string>>;
  readonly password: string;
  readonly atMs: number;
}

export async function createAccount(database: Database, account: NewAccount): Promise<string> {
  const accounts = new AccountsStore(database);
  const pairs = new KeyPairsStore(database);
  const { email, isUpgraded, keys, atMs: createdAtMs } = account;
  const passwordHash = await hashPassword(account.password);
  return database.transaction(() => {
    const { accountId, projectIds } = accounts.addAccount({ isUpgraded, createdAtMs });
    pairs.add({
      accountId,
      createdAtMs,
      keys: environments.map(environment => ({
        projectId: projectIds[environment],
        text: keys[environment],
      })),
    });
    accounts.addUser({ accountId, email, passwordHash, createdAtMs });
    return accountId;
  });
}
