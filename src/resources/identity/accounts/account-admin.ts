import { scopes } from '../../../http/routing/scope.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { EmailAddress } from '../../../shared/email-address.ts';
import { randomBase62 } from '../../../shared/ids.ts';
import { Secret } from '../../../shared/secret.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { Environment } from '../../../store/tables.ts';
import { AuditStore } from '../audit/audit.store.ts';
import { type AuditTarget, operator } from '../audit/audit-entry.ts';
import type { Passkey } from '../passkeys/passkey.ts';
import { PasskeysStore } from '../passkeys/passkeys.store.ts';
import type { User } from '../sessions/session.ts';
import { TwoFactorStore } from '../two-factor/two-factor.store.ts';
import { AccountAdminStore, type ListedAccount, type UnverifiedUser } from './account-admin.store.ts';
import { AccountsStore } from './accounts.store.ts';
import { createAccount } from './create-account.ts';
import { environments } from './key-pair.ts';
import { apiKeyLength } from './key-pairs.service.ts';
import { KeyPairsStore } from './key-pairs.store.ts';
import { hashPassword } from './password.ts';
import type { RemovedCredentials } from './removed-credentials.ts';

const generatedPasswordLength = 20;

/** `verified-before`: the address was proved before, and nothing has changed. */
type Verification = { readonly password: Secret; readonly removed: RemovedCredentials } | 'verified-before';

interface AccountKeys {
  readonly account: ListedAccount;
  readonly keys: Readonly<Record<Environment, Secret>>;
}

/** Manages accounts for the operator. Running servers notice changes within a second. */
export class AccountAdmin {
  readonly #database: Database;
  readonly #accounts: AccountsStore;
  readonly #store: AccountAdminStore;
  readonly #audit: AuditStore;
  readonly #clock: Clock;

  constructor(database: Database, clock: Clock, accounts = new AccountsStore(database)) {
    this.#database = database;
    this.#accounts = accounts;
    this.#store = new AccountAdminStore(database);
    this.#audit = new AuditStore(database);
    this.#clock = clock;
  }

  list(): Promise<ListedAccount[]> {
    return this.#store.list();
  }

  /** Returns undefined when the email address is in use. */
  async create(
    email: EmailAddress,
    isUpgraded: boolean,
  ): Promise<(AccountKeys & { readonly password: Secret }) | undefined> {
    const keys = newKeys();
    const password = randomBase62(generatedPasswordLength);
    const atMs = this.#clock.nowMs();
    const accountId = await createAccount(this.#database, {
      email,
      isUpgraded,
      keys,
      password,
      atMs,
      isFirst: false,
    });
    if (accountId === undefined) return undefined;
    await this.#record(accountId, 'account.create', 'Create an account');
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
    await this.#recordStanding(account.accountId, standing);
    return this.#store.find(account.accountId);
  }

  /** Adds keys to the first project. Ignores its limit of keys. */
  async addKeys(emailOrId: string): Promise<(AccountKeys & { readonly projectName: string }) | undefined> {
    const account = await this.#store.find(emailOrId);
    if (account === undefined) return undefined;
    const { accountId } = account;
    const keys = newKeys();
    const pairs = new KeyPairsStore(this.#database);
    const createdAtMs = this.#clock.nowMs();
    const projectName = await this.#accounts.changeAccess(accountId, async transaction => {
      const { name, projectIds } = (await this.#accounts.projects.list(accountId, transaction))[0]!;
      const pair = environments.map(one => ({ projectId: projectIds[one], text: keys[one] }));
      const keyPairId = await pairs.add({ accountId, createdAtMs, scopes, keys: pair }, transaction);
      const target = { kind: 'key-pair', id: keyPairId, name: undefined };
      await this.#record(accountId, 'api-key.create', 'Create an API key pair', target, transaction);
      return name;
    });
    return { account, keys: secretsOf(keys), projectName };
  }

  /** @param emailOrId of a user */
  async changeEmail(
    emailOrId: string,
    email: EmailAddress,
  ): Promise<{ userId: string } | 'unknown' | 'taken'> {
    const user = await this.#accounts.findUserOrId(emailOrId);
    if (user === undefined) return 'unknown';
    const { userId, accountId } = user;
    const changed = async (transaction: Transaction) => {
      await transaction.lock('accounts');
      const owner = await this.#accounts.findUser(email, transaction);
      if (owner !== undefined && owner.userId !== userId) return 'taken';
      await this.#accounts.setEmail(userId, email, transaction);
      const target = { kind: 'user', id: userId, name: email };
      await this.#record(accountId, 'user.update', 'Change an email address', target, transaction);
      return { userId };
    };
    return this.#accounts.changeAccess(accountId, changed, { changed: 'user' });
  }

  /** Removes passkeys unless `keepsPasskeys`. Also proves the address: the operator gives the password to the right person. */
  async setPassword(
    email: EmailAddress,
    { keepsPasskeys }: { keepsPasskeys: boolean },
  ): Promise<{ password: Secret; removed: RemovedCredentials } | undefined> {
    const user = await this.#accounts.findUser(email);
    if (user === undefined) return undefined;
    return this.#resetPassword(user, { keepsPasskeys }, ['password.reset', 'Reset a password']);
  }

  /** Sets a new password, since others may know the present one. */
  async verify(email: EmailAddress): Promise<Verification | undefined> {
    const user = await this.#accounts.findUser(email);
    if (user === undefined) return undefined;
    if (user.isVerified) return 'verified-before';
    const action = ['user.verify', 'Verify an email address'] as const;
    return this.#resetPassword(user, { keepsPasskeys: false }, action);
  }

  /** The oldest first. */
  async listUnverified(): Promise<UnverifiedUser[]> {
    return this.#store.listUnverified();
  }

  async #resetPassword(
    user: User,
    { keepsPasskeys }: { keepsPasskeys: boolean },
    [action, summary]: readonly [action: string, summary: string],
  ): Promise<{ password: Secret; removed: RemovedCredentials }> {
    const password = randomBase62(generatedPasswordLength);
    const { userId, accountId, email } = user;
    const kept = keepsPasskeys ? await new PasskeysStore(this.#database).all(userId) : [];
    const change = {
      passwordHash: await hashPassword(password),
      keep: { passkeys: kept.map(({ passkeyId }) => passkeyId), sessions: [] },
      atMs: this.#clock.nowMs(),
    };
    const target = { kind: 'user', id: userId, name: email };
    const removed = await this.#accounts.resetPassword(user, change, transaction =>
      this.#record(accountId, action, summary, target, transaction),
    );
    return { password: new Secret(password), removed };
  }

  async #recordStanding(
    accountId: string,
    { isSuspended, isUpgraded }: { isSuspended?: boolean; isUpgraded?: boolean },
  ): Promise<void> {
    if (isSuspended === true) await this.#record(accountId, 'account.suspend', 'Suspend the account');
    if (isSuspended === false) await this.#record(accountId, 'account.resume', 'End the suspension');
    if (isUpgraded === true) await this.#record(accountId, 'account.upgrade', 'Upgrade the account');
    if (isUpgraded === false) await this.#record(accountId, 'account.downgrade', 'Undo the upgrade');
  }

  async #record(
    accountId: string,
    action: string,
    summary: string,
    target: AuditTarget = { kind: 'account', id: accountId, name: undefined },
    connection: Connection = this.#database,
  ): Promise<void> {
    const event = { accountId, actor: operator, action, summary, target };
    await connection.transaction(transaction => this.#audit.add(event, this.#clock.nowMs(), transaction));
  }

  /** Returns undefined for an unknown user. */
  async hasTwoFactor(email: EmailAddress): Promise<boolean | undefined> {
    const user = await this.#accounts.findUser(email);
    if (user === undefined) return undefined;
    const found = await new TwoFactorStore(this.#database).find(user.userId);
    return found?.enabledAtMs !== undefined;
  }

  /** Ends the user's sessions. */
  async disableTwoFactor(email: EmailAddress): Promise<void> {
    const user = await this.#accounts.findUser(email);
    if (user === undefined) return;
    const { userId, accountId } = user;
    const store = new TwoFactorStore(this.#database);
    const disabled = async (transaction: Transaction) => {
      await store.remove(userId, transaction);
      await this.#accounts.sessions.removeOfUser(userId, [], transaction);
      const target = { kind: 'user', id: userId, name: user.email };
      await this.#record(accountId, 'two-factor.reset', 'Turn off two-factor sign-in', target, transaction);
    };
    await this.#accounts.changeAccess(accountId, disabled, { changed: 'user' });
  }

  /** Returns undefined for an unknown user. */
  async listPasskeys(email: EmailAddress): Promise<Passkey[] | undefined> {
    const user = await this.#accounts.findUser(email);
    return user && new PasskeysStore(this.#database).all(user.userId);
  }

  /** Removes all passkeys of the user. Sessions continue. Returns those that were removed, or undefined for an unknown user. */
  async removePasskeys(email: EmailAddress): Promise<Passkey[] | undefined> {
    const user = await this.#accounts.findUser(email);
    if (user === undefined) return undefined;
    const { userId, accountId } = user;
    const store = new PasskeysStore(this.#database);
    return this.#accounts.changeAccess(accountId, async transaction => {
      const removed = await store.all(userId, 'desc', transaction);
      if (removed.length === 0) return removed;
      await store.removeOfUser(userId, [], transaction);
      const target = { kind: 'user', id: userId, name: user.email };
      await this.#record(accountId, 'passkeys.reset', 'Remove all passkeys', target, transaction);
      return removed;
    });
  }
}

function newKeys(): Record<Environment, string> {
  return { sandbox: randomBase62(apiKeyLength), production: randomBase62(apiKeyLength) };
}

function secretsOf(keys: Record<Environment, string>): Record<Environment, Secret> {
  return { sandbox: new Secret(keys.sandbox), production: new Secret(keys.production) };
}
