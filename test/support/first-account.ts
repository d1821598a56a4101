import { scopes } from '../../src/http/routing/scope.ts';
import { AccountsStore } from '../../src/resources/identity/accounts/accounts.store.ts';
import { environments } from '../../src/resources/identity/accounts/key-pair.ts';
import { KeyPairsStore } from '../../src/resources/identity/accounts/key-pairs.store.ts';
import type { Transaction } from '../../src/store/connection.ts';
import type { Database } from '../../src/store/database.ts';
import type { Environment } from '../../src/store/tables.ts';
import { admin, cheapHash, emailOf, type SignInCredentials } from './sign-in.ts';

/** Keys of the first account in tests. */
export const sandboxKey = 'sandbox-key-of-tests-0123456789ab';
/** Works only where the account was made upgraded. */
export const productionKey = 'production-key-of-tests-0123456789ab';

export interface NewAccount {
  readonly isUpgraded: boolean;
  readonly keys: Readonly<Record<Environment, string>>;
}

/** Does the work of `bootstrapAccount` without that of a password that is hard to guess. */
export async function addFirstAccount(
  database: Database,
  {
    isUpgraded = false,
    keys = { sandbox: sandboxKey, production: productionKey },
    user = admin,
  }: Partial<NewAccount> & { user?: SignInCredentials } = {},
): Promise<void> {
  const accounts = new AccountsStore(database);
  await database.transaction(async transaction => {
    await transaction.lock('accounts');
    if (!(await accounts.isEmpty(transaction))) return;
    const { accountId } = await insertAccount(database, { isUpgraded, keys }, transaction);
    const { email, password } = user;
    const passwordHash = cheapHash(password);
    await accounts.addUser(
      {
        accountId,
        email: emailOf(email),
        isVerified: true,
        passwordHash,
        createdAtMs: Date.now(),
        role: 'owner',
      },
      transaction,
    );
  });
}

/** Adds an account with its two projects and their keys. */
export async function insertAccount(
  database: Database,
  { isUpgraded, keys }: NewAccount,
  transaction: Transaction,
): Promise<{ accountId: string; projectIds: Readonly<Record<Environment, string>> }> {
  const createdAtMs = Date.now();
  const { accountId, projectIds } = await new AccountsStore(database).addAccount(
    { isUpgraded, createdAtMs },
    transaction,
  );
  const pair = environments.map(name => ({ projectId: projectIds[name], text: keys[name] }));
  await new KeyPairsStore(database).add({ accountId, createdAtMs, scopes, keys: pair }, transaction);
  return { accountId, projectIds };
}
