import type { Clock } from '../../shared/clock.ts';
import { randomBase62 } from '../../shared/ids.ts';
import { Secret } from '../../shared/secret.ts';
import type { Environment } from '../../store/account-tables.ts';
import type { Database } from '../../store/database.ts';
import { TwoFactorStore } from '../two-factor/two-factor.store.ts';
import { AccountAdminStore, type ListedAccount } from './account-admin.store.ts';
import { AccountsStore } from './accounts.store.ts';
import { createAccount } from './create-account.ts';
import { environments } from './key-pair.ts';
import { apiKeyLength } from './key-pairs.service.ts';
import { KeyPairsStore } from './key-pairs.store.ts';
import { hashPassword } from './password.ts';

const generatedPasswordLength = 20;

interface AccountKeys {
  readonly account: ListedAccount;
  readonly keys: Readonly<Record<Environment, Secret>>;
}

/** Manages accounts beside a running server, which notices changes within a second. */
export class AccountAdmin {
  readonly #database: Database;
  readonly #accounts: AccountsStore;
  readonly #store: AccountAdminStore;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#accounts = new AccountsStore(database);
    this.#store = new AccountAdminStore(database);
    this.#clock = clock;
  }

  list(): Promise<ListedAccount[]> {
    return this.#store.list();
  }

  /** Returns undefined when the email address is in use. */
  async create(
    email: string,
    isUpgraded: boolean,
  ): Promise<(AccountKeys & { readonly password: Secret }) | undefined> {
    const keys = newKeys();
    const password = randomBase62(generatedPasswordLength);
    const atMs = this.#clock.nowMs();
    const accountId = await createAccount(this.#database, { email, isUpgraded, keys, password, atMs });
    if (accountId === undefined) return undefined;
    return {
      account: (await this.#store.find(accountId))!,
      keys: secretsOf(keys),
      password: new Secret(password),
    };
  }

  async setStanding(
    emailOrId: string,
    standing: { isSuspended?: boolean; isUpgraded?: boolean },
  ): Promise<ListedAccount | undefined> {
    const account = await this.#store.find(emailOrId);
    if (account === undefined) return undefined;
    await this.#accounts.setStanding(account.accountId, standing);
    return this.#store.find(account.accountId);
  }

  /** Ignores the account's limit of keys. */
  async addKeys(emailOrId: string): Promise<AccountKeys | undefined> {
    const account = await this.#store.find(emailOrId);
    if (account === undefined) return undefined;
    const { accountId } = account;
    const keys = newKeys();
    const pairs = new KeyPairsStore(this.#database);
    const createdAtMs = this.#clock.nowMs();
    await this.#accounts.changeAccess(accountId, async transaction => {
      const projectIds = await pairs.projectIdsOf(accountId, transaction);
      const pair = environments.map(name => ({ projectId: projectIds[name], text: keys[name] }));
      await pairs.add({ accountId, createdAtMs, keys: pair }, transaction);
    });
    return { account, keys: secretsOf(keys) };
  }

  async setPassword(email: string): Promise<Secret | undefined> {
    const password = randomBase62(generatedPasswordLength);
    const passwordHash = await hashPassword(password);
    return (await this.#accounts.resetPassword(email, passwordHash)) ? new Secret(password) : undefined;
  }

  /** Returns undefined for an unknown user. */
  async hasTwoFactor(email: string): Promise<boolean | undefined> {
    const user = await this.#accounts.findUser(email);
    if (user === undefined) return undefined;
    const found = await new TwoFactorStore(this.#database).find(user.userId);
    return found?.enabledAtMs !== undefined;
  }

  /** Ends the user's sessions. */
  async disableTwoFactor(email: string): Promise<void> {
    const user = await this.#accounts.findUser(email);
    if (user === undefined) return;
    const { userId, accountId } = user;
    const store = new TwoFactorStore(this.#database);
    await this.#accounts.changeAccess(accountId, async transaction => {
      await store.remove(userId, transaction);
      const users = transaction.queries.selectFrom('users').select('id').where('id', '=', userId);
      await this.#accounts.sessions.removeOfUsers(users, transaction);
    });
  }
}

function newKeys(): Record<Environment, string> {
  return { sandbox: randomBase62(apiKeyLength), production: randomBase62(apiKeyLength) };
}

function secretsOf(keys: Record<Environment, string>): Record<Environment, Secret> {
  return { sandbox: new Secret(keys.sandbox), production: new Secret(keys.production) };
}
