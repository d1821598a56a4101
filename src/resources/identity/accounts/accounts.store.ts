import type { InferResult } from 'kysely';
import { scopeSet } from '../../../http/routing/scope.ts';
import { type EmailAddress, readEmail } from '../../../shared/email-address.ts';
import { AppError } from '../../../shared/errors.ts';
import { newId } from '../../../shared/ids.ts';
import type { Connection, Queries, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { type Bound, type PreparedQuery, prepareQuery } from '../../../store/prepared-query.ts';
import type { Environment } from '../../../store/tables.ts';
import type { Role } from '../members/member.ts';
import { MembersStore, ownerEmail } from '../members/members.store.ts';
import { PasskeysStore } from '../passkeys/passkeys.store.ts';
import { PasswordResetsStore } from '../password-resets/password-resets.store.ts';
import { firstProjectName } from '../projects/project-pair.ts';
import { ProjectPairsStore } from '../projects/project-pairs.store.ts';
import type { User } from '../sessions/session.ts';
import { SessionsStore } from '../sessions/sessions.store.ts';
import { TwoFactorStore } from '../two-factor/two-factor.store.ts';
import { announceAccessChange } from './access-watch.ts';
import { type Account, type KeyOwner, standingOf } from './account.ts';
import { parseScopes } from './key-pair.ts';
import { KeyPairsStore } from './key-pairs.store.ts';
import type { KeptCredentials, RemovedCredentials } from './removed-credentials.ts';
import { SecretCache } from './secret-cache.ts';
import { selectUnclaimed, UnverifiedChangesStore } from './unverified-changes.store.ts';

interface OwnerRow {
  api_key_id: string;
  key_name: string | null;
  user_id: string | null;
  unverified_user_id: string | null;
  project_id: string;
  account_id: string;
  environment: Environment;
  is_suspended: number;
  is_upgraded: number;
  scopes: string;
}

export function selectKeyOwner(queries: Queries) {
  return queries
    .selectFrom('api_keys as k')
    .innerJoin('key_pairs as kp', 'kp.id', 'k.pair_id')
    .innerJoin('projects as p', 'p.id', 'k.project_id')
    .innerJoin('accounts as a', 'a.id', 'p.account_id')
    .leftJoin('users as u', join => join.onRef('u.id', '=', 'k.user_id').on('u.verified_at_ms', 'is', null))
    .where('k.revoked_at_ms', 'is', null)
    .select([
      'k.id as api_key_id',
      'k.user_id',
      'u.id as unverified_user_id',
      'kp.name as key_name',
      'p.id as project_id',
      'p.account_id',
      'p.environment',
      'a.is_suspended',
      'a.is_upgraded',
      'kp.scopes',
    ]);
}

const nothingRemoved: RemovedCredentials = {
  passkeys: 0,
  sessions: 0,
  twoFactor: false,
  apiKeys: 0,
  signingKeys: 0,
  uploadTokens: 0,
  streamKeys: 0,
  webhooks: 0,
  hooks: 0,
  destinations: 0,
  invitations: 0,
  members: 0,
  unknownApiKeys: 0,
};

/** One instance per server: its changes clear its cache of key owners and that of the sessions at once. */
export class AccountsStore {
  /** Sessions end together with the rights of their accounts and users. */
  readonly sessions: SessionsStore;
  readonly members: MembersStore;
  readonly projects: ProjectPairsStore;
  /** Links for new passwords end with the next change of the password. */
  readonly passwordResets: PasswordResetsStore;
  readonly #database: Database;
  readonly #passkeys: PasskeysStore;
  readonly #twoFactor: TwoFactorStore;
  readonly #keyPairs: KeyPairsStore;
  readonly #unverifiedChanges: UnverifiedChangesStore;
  readonly #ownerCache = new SecretCache<KeyOwner>();
  readonly #ownerOfKey: PreparedQuery<{ hash: Buffer }, OwnerRow>;

  constructor(database: Database) {
    this.#database = database;
    this.sessions = new SessionsStore(database);
    this.members = new MembersStore(database);
    this.projects = new ProjectPairsStore(database);
    this.passwordResets = new PasswordResetsStore(database);
    this.#passkeys = new PasskeysStore(database);
    this.#twoFactor = new TwoFactorStore(database);
    this.#keyPairs = new KeyPairsStore(database);
    this.#unverifiedChanges = new UnverifiedChangesStore(database);
    this.#ownerOfKey = prepareQuery(({ hash }: Bound<{ hash: Buffer }>) =>
      selectKeyOwner(database.queries).where('k.key_hash', '=', hash),
    );
  }

  async isEmpty(connection: Connection = this.#database): Promise<boolean> {
    const any = connection.queries.selectFrom('accounts').select('id').limit(1);
    return (await connection.first(any)) === undefined;
  }

  ownerOfKey(apiKey: string): Promise<KeyOwner | undefined> {
    return this.#ownerCache.getOrLoad(apiKey, async hash => {
      const row = await this.#database.first(this.#ownerOfKey({ hash }));
      return row === undefined ? undefined : ownerFrom(row);
    });
  }

  /** Adds an account. The first one is the operator's: lock `accounts` before. */
  async addAccount(
    account: { isUpgraded: boolean; createdAtMs: number },
    transaction: Transaction,
  ): Promise<{ accountId: string; projectIds: Readonly<Record<Environment, string>> }> {
    const { queries } = transaction;
    const accountId = newId('ac');
    await transaction.run(
      queries.insertInto('accounts').values({
        id: accountId,
        is_upgraded: Number(account.isUpgraded),
        is_suspended: 0,
        is_operator: Number(await this.isEmpty(transaction)),
        created_at_ms: account.createdAtMs,
      }),
    );
    const first = { accountId, name: firstProjectName, createdAtMs: account.createdAtMs };
    const { projectIds } = await this.projects.add(first, transaction);
    return { accountId, projectIds };
  }

  clearCaches(): void {
    this.#ownerCache.clear();
    this.sessions.clearCache();
  }

  async find(accountId: string): Promise<Account | undefined> {
    const { queries } = this.#database;
    const row = await this.#database.first(
      queries
        .selectFrom('accounts as a')
        .select(['a.name', 'a.is_upgraded', 'a.is_operator', 'a.created_at_ms'])
        .select(expression => ownerEmail(expression).as('email'))
        .where('a.id', '=', accountId),
    );
    if (row === undefined) return undefined;
    return {
      accountId,
      name: row.name ?? undefined,
      email: row.email ?? undefined,
      isUpgraded: row.is_upgraded === 1,
      isOperator: row.is_operator === 1,
      createdAtMs: row.created_at_ms,
    };
  }

  rename(accountId: string, name: string | null): Promise<void> {
    return this.changeAccess(accountId, async transaction => {
      const { queries } = transaction;
      await transaction.run(queries.updateTable('accounts').set({ name }).where('id', '=', accountId));
    });
  }

  /** Suspending an account ends its sessions. */
  async setStanding(
    accountId: string,
    standing: { isSuspended?: boolean; isUpgraded?: boolean },
  ): Promise<void> {
    const changes = {
      ...(standing.isSuspended === undefined ? {} : { is_suspended: Number(standing.isSuspended) }),
      ...(standing.isUpgraded === undefined ? {} : { is_upgraded: Number(standing.isUpgraded) }),
    };
    if (Object.keys(changes).length === 0) return;
    const { queries } = this.#database;
    await this.changeAccess(accountId, async transaction => {
      await transaction.run(queries.updateTable('accounts').set(changes).where('id', '=', accountId));
      if (standing.isSuspended !== true) return;
      await this.sessions.removeOfAccount(accountId, transaction);
    });
  }

  /**
   * Runs changes of an account's standing, members, keys and sessions one at a time, and tells all servers.
   * @param options.changed `user`: a user changed, whose sessions may act for other accounts, too
   */
  changeAccess<Result>(
    accountId: string,
    work: (transaction: Transaction) => Promise<Result>,
    { changed = 'account' }: { changed?: 'account' | 'user' } = {},
  ): Promise<Result> {
    return this.#database.transaction(async transaction => {
      await transaction.lock('account', accountId);
      const result = await work(transaction);
      const announced = changed === 'user' ? undefined : accountId;
      await announceAccessChange(announced, this.#database, transaction);
      transaction.afterCommit(() => this.clearCaches());
      return result;
    });
  }

  /**
   * Refuses what a session that ended meanwhile would add to its user, until the end of the transaction.
   * @throws AppError `authentication-invalid-session`
   */
  async requireSession(
    { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
    transaction: Transaction,
  ): Promise<void> {
    await transaction.lock('user', userId);
    if ((await this.sessions.find(sessionId, transaction)) !== undefined) return;
    throw new AppError('authentication-invalid-session');
  }

  /** Adds a user to an account. Returns the user's id. */
  async addUser(
    user: {
      accountId: string;
      email: EmailAddress;
      /** The email address is proved. */
      isVerified: boolean;
      passwordHash: string;
      createdAtMs: number;
      role: Role;
    },
    transaction: Transaction,
  ): Promise<string> {
    const { accountId, createdAtMs, role } = user;
    const userId = newId('us');
    await transaction.run(
      transaction.queries.insertInto('users').values({
        id: userId,
        account_id: accountId,
        email: user.email,
        password_hash: user.passwordHash,
        created_at_ms: createdAtMs,
        verified_at_ms: user.isVerified ? createdAtMs : null,
      }),
    );
    await this.members.add({ accountId, userId, role, createdAtMs }, transaction);
    return userId;
  }

  /** Finds a user, with the first account that is not suspended. */
  async findUser(email: EmailAddress, connection: Connection = this.#database): Promise<User | undefined> {
    return userFrom(await connection.first(selectUser(connection).where('u.email', '=', email)));
  }

  /** Finds a user as {@link findUser} does, by email address or id. */
  async findUserOrId(emailOrId: string): Promise<User | undefined> {
    const { email } = readEmail(emailOrId);
    if (email !== undefined) return this.findUser(email);
    return userFrom(await this.#database.first(selectUser(this.#database).where('u.id', '=', emailOrId)));
  }

  async setEmail(userId: string, email: EmailAddress, transaction: Transaction): Promise<void> {
    const changed = transaction.queries.updateTable('users');
    await transaction.run(
      changed.set({ email, former_email: null, verified_at_ms: null }).where('id', '=', userId),
    );
  }

  /** Users who need another address: a migration replaced the one that they had. */
  listReplacedEmails(): Promise<{ id: string; former_email: string | null }[]> {
    const { queries } = this.#database;
    const users = queries.selectFrom('users').select(['id', 'former_email']);
    return this.#database.all(users.where('former_email', 'is not', null).orderBy('id'));
  }

  /** Ends all sessions but `kept`. @returns false when the password has changed since `user` was read */
  async changePassword(
    user: User,
    passwordHash: string,
    kept: { sessionId: string; secret: string },
  ): Promise<boolean> {
    const changed = this.#database.queries
      .updateTable('users')
      .set({ password_hash: passwordHash })
      .where('id', '=', user.userId)
      .where('password_hash', '=', user.passwordHash);
    return this.changeAccess(
      user.accountId,
      async transaction => {
        if ((await transaction.run(changed)) === 0) return false;
        await this.sessions.removeOfUser(user.userId, [kept.sessionId], transaction);
        await this.sessions.setSecret(kept.sessionId, kept.secret, transaction);
        await this.passwordResets.removeOfUser(user.userId, transaction);
        return true;
      },
      { changed: 'user' },
    );
  }

  /**
   * Sets the password, and ends passkeys and sessions that are not kept. Proves the email address.
   * @param begin runs first in the transaction. It throws to refuse
   */
  resetPassword(
    user: User,
    { passwordHash, keep, atMs }: { passwordHash: string; keep: KeptCredentials; atMs: number },
    begin: (transaction: Transaction) => Promise<void>,
  ): Promise<RemovedCredentials> {
    const { userId } = user;
    const reset = async (transaction: Transaction) => {
      await begin(transaction);
      const verified = await this.verify(user, { passwordHash, atMs }, transaction);
      if (verified !== undefined) return verified;
      await this.#setPassword(userId, passwordHash, transaction);
      return {
        ...nothingRemoved,
        passkeys: await this.#passkeys.removeOfUser(userId, keep.passkeys, transaction),
        sessions: await this.sessions.removeOfUser(userId, keep.sessions, transaction),
      };
    };
    return this.changeAccess(user.accountId, reset, { changed: 'user' });
  }

  /**
   * Marks an email address that the user has just proved. Anybody may have set up what is there until then, so it ends: passkeys,
   * codes, sessions, links with a provider, API keys and all else that the user set up to access accounts or to send their data
   * elsewhere. In accounts that no verified user has owned, it ends whoever set it up, with the memberships of others. Call it
   * within {@link changeAccess} with `changed: 'user'`. @returns undefined when the address was proved before
   */
  async verify(
    { userId }: Pick<User, 'userId'>,
    { passwordHash, atMs }: { passwordHash: string; atMs: number },
    transaction: Transaction,
  ): Promise<RemovedCredentials | undefined> {
    await transaction.lock('user', userId);
    const { queries } = transaction;
    const unverified = queries
      .updateTable('users')
      .where('id', '=', userId)
      .where('verified_at_ms', 'is', null);
    if ((await transaction.run(unverified.set({ verified_at_ms: atMs }))) === 0) return undefined;
    await this.#setPassword(userId, passwordHash, transaction);
    await transaction.run(queries.deleteFrom('identities').where('user_id', '=', userId));
    const twoFactor = await this.#twoFactor.find(userId, transaction);
    await this.#twoFactor.remove(userId, transaction);
    const removed = {
      passkeys: await this.#passkeys.removeOfUser(userId, [], transaction),
      sessions: await this.sessions.removeOfUser(userId, [], transaction),
      ...(await this.#unverifiedChanges.remove(userId, transaction)),
      apiKeys: await this.#keyPairs.revokeOfUser(userId, atMs, transaction),
      twoFactor: twoFactor?.enabledAtMs !== undefined,
      members: await this.#removeOtherMembers(userId, transaction),
    };
    const claimed = queries.updateTable('accounts').set({ is_unclaimed: 0 });
    await transaction.run(claimed.where('id', 'in', selectUnclaimed(userId, transaction)));
    return { ...removed, unknownApiKeys: await this.#keyPairs.countUnknown(userId, transaction) };
  }

  /** Removes other members of accounts that no verified user has owned. */
  async #removeOtherMembers(userId: string, transaction: Transaction): Promise<number> {
    const others = await transaction.all(
      transaction.queries
        .selectFrom('members')
        .select(['account_id', 'user_id'])
        .where('account_id', 'in', selectUnclaimed(userId, transaction))
        .where('user_id', '!=', userId)
        .orderBy('user_id'),
    );
    for (const other of others) {
      await transaction.lock('user', other.user_id);
      await this.sessions.removeOfMember(other.account_id, other.user_id, transaction);
      await this.members.remove(other.account_id, other.user_id, transaction);
    }
    return others.length;
  }

  async #setPassword(userId: string, passwordHash: string, transaction: Transaction): Promise<void> {
    const changed = transaction.queries.updateTable('users').set({ password_hash: passwordHash });
    await transaction.run(changed.where('id', '=', userId));
    await this.passwordResets.removeOfUser(userId, transaction);
  }
}

function selectUser({ queries }: Connection) {
  return queries
    .selectFrom('users as u')
    .innerJoin('members as m', 'm.user_id', 'u.id')
    .innerJoin('accounts as a', 'a.id', 'm.account_id')
    .select(['u.id', 'm.account_id', 'u.email', 'u.verified_at_ms', 'u.password_hash', 'a.is_suspended'])
    .orderBy('a.is_suspended')
    .orderBy('m.created_at_ms')
    .orderBy('a.id')
    .limit(1);
}

function userFrom(row: InferResult<ReturnType<typeof selectUser>>[number] | undefined): User | undefined {
  if (row === undefined) return undefined;
  return {
    userId: row.id,
    accountId: row.account_id,
    email: row.email,
    isVerified: row.verified_at_ms !== null,
    passwordHash: row.password_hash,
    isSuspended: row.is_suspended === 1,
  };
}

export function ownerFrom(row: OwnerRow): KeyOwner {
  return {
    apiKeyId: row.api_key_id,
    projectId: row.project_id,
    accountId: row.account_id,
    environment: row.environment,
    scopes: scopeSet(parseScopes(row.scopes)),
    standing: standingOf({
      isSuspended: row.is_suspended === 1,
      isUpgraded: row.is_upgraded === 1,
      environment: row.environment,
    }),
    actor: {
      kind: 'api-key',
      apiKeyId: row.api_key_id,
      name: row.key_name ?? undefined,
      userId: row.user_id ?? undefined,
      isUnverified: row.unverified_user_id !== null,
    },
  };
}
