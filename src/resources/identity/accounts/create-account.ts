import { scopes } from '../../../http/routing/scope.ts';
import type { EmailAddress } from '../../../shared/email-address.ts';
import type { Database } from '../../../store/database.ts';
import type { Environment } from '../../../store/tables.ts';
import { AccountsStore } from './accounts.store.ts';
import { environments } from './key-pair.ts';
import { KeyPairsStore } from './key-pairs.store.ts';
import { hashPassword } from './password.ts';

interface NewAccount {
  readonly email: EmailAddress;
  readonly isUpgraded: boolean;
  /** API keys to store. Without any, the account has none. */
  readonly keys?: Readonly<Record<Environment, string>>;
  readonly password: string;
  readonly atMs: number;
  /** Creates no second account. */
  readonly isFirst: boolean;
}

/** Returns the account's id; undefined when the email address is in use or `isFirst` is not true. */
export async function createAccount(database: Database, account: NewAccount): Promise<string | undefined> {
  const accounts = new AccountsStore(database);
  const pairs = new KeyPairsStore(database);
  const { email, isUpgraded, keys, atMs: createdAtMs } = account;
  const passwordHash = await hashPassword(account.password);
  return database.transaction(async transaction => {
    await transaction.lock('accounts');
    if (account.isFirst && !(await accounts.isEmpty(transaction))) return undefined;
    if ((await accounts.findUser(email, transaction)) !== undefined) return undefined;
    const { accountId, projectIds } = await accounts.addAccount({ isUpgraded, createdAtMs }, transaction);
    if (keys !== undefined) {
      const pair = environments.map(name => ({ projectId: projectIds[name], text: keys[name] }));
      await pairs.add({ accountId, createdAtMs, scopes, keys: pair }, transaction);
    }
    const user = { accountId, email, isVerified: true, passwordHash, createdAtMs, role: 'owner' } as const;
    await accounts.addUser(user, transaction);
    return accountId;
  });
}
