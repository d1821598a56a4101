import type { Clock } from '../../shared/clock.ts';
import { randomBase62 } from '../../shared/ids.ts';
import { Secret } from '../../shared/secret.ts';
import type { Environment } from '../../store/account-tables.ts';
import type { Database } from '../../store/database.ts';
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

  list(): ListedAccount[] {
    return this.#store.list();
  }

  /** Returns undefined when the email address is in use. */
  async create(
    email: string,
    isUpgraded: boolean,
  ): Promise<(AccountKeys & { readonly password: Secret }) | undefined> {
    if (this.#store.find(email) !== undefined) return undefined;
    const keys = newKeys();
    const password = randomBase62(generatedPasswordLength);
    const atMs = this.#clock.nowMs();
    const accountId = await createAccount(this.#database, { email, isUpgraded, keys, password, atMs });
    return { account: this.#store.find(accountId)!, keys: secretsOf(keys), password: new Secret(password) };
  }

  setStanding(
    emailOrId: string,
    standing: { isSuspended?: boolean; isUpgraded?: boolean },
  ): ListedAccount | undefined {
    const account = this.#store.find(emailOrId);
    if (account === undefined) return undefined;
    this.#accounts.setStanding(account.accountId, standing);
    return this.#store.find(account.accountId);
  }

  /** Ignores the account's limit of keys. */
  addKeys(emailOrId: string): AccountKeys | undefined {
    const account = this.#store.find(emailOrId);
    if (account === undefined) return undefined;
    const { accountId } = account;
    const keys = newKeys();
    const pairs = new KeyPairsStore(this.#database);
    const projectIds = pairs.projectIdsOf(accountId);
    pairs.add({
      accountId,
      createdAtMs: this.#clock.nowMs(),
      keys: environments.map(environment => ({
        projectId: projectIds[environment],
        text: keys[environment],
      })),
    });
    return { account, keys: secretsOf(keys) };
  }

  async setPassword(email: string): Promise<Secret | undefined> {
    const password = randomBase62(generatedPasswordLength);
    const passwordHash = await hashPassword(password);
    return this.#accounts.resetPassword(email, passwordHash) ? new Secret(password) : undefined;
  }
}

function newKeys(): Record<Environment, string> {
  return { sandbox: randomBase62(apiKeyLength), production: randomBase62(apiKeyLength) };
}

function secretsOf(keys: Record<Environment, string>): Record<Environment, Secret> {
  return { sandbox: new Secret(keys.sandbox), production: new Secret(keys.production) };
}
