import type { SessionCaller } from '../../../http/routing/caller.ts';
import { requireScope } from '../../../http/routing/scope.ts';
import { AppError } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { AccountsStore } from '../accounts/accounts.store.ts';
import type { Member, Role } from './member.ts';

/**
 * Somebody else may be behind an unverified user, and people whom that one lets in would stay when the address is proved.
 * @throws AppError `email-unverified`
 */
export function requireVerified({ actor }: SessionCaller): void {
  if (!actor.isUnverified) return;
  const detail =
    'Verify your email address before you invite others, remove them or change their roles: request a new password on the sign-in page, or ask the operator of the server to verify you.';
  throw new AppError('email-unverified', undefined, { details: { detail } });
}

export class MembersService {
  readonly #accounts: AccountsStore;
  readonly #log: Logger;

  constructor(options: { accounts: AccountsStore; log: Logger }) {
    this.#accounts = options.accounts;
    this.#log = options.log;
  }

  list({ accountId }: SessionCaller): Promise<Member[]> {
    return this.#accounts.members.list(accountId);
  }

  find({ accountId }: SessionCaller, userId: string): Promise<Member | undefined> {
    return this.#accounts.members.find(accountId, userId);
  }

  /** @throws AppError `last-owner` or `email-unverified` */
  async setRole(caller: SessionCaller, userId: string, role: Role): Promise<Member> {
    requireVerified(caller);
    const { accountId } = caller;
    const { members } = this.#accounts;
    const member = await this.#accounts.changeAccess(accountId, async transaction => {
      const before = await this.#require(accountId, userId, transaction);
      if (role !== 'owner') await this.#requireOtherOwner(accountId, before, transaction);
      await members.setRole(accountId, userId, role, transaction);
      return { ...before, role };
    });
    this.#log.info('member-role-changed', { accountId, userId, role });
    return member;
  }

  /**
   * Everybody may leave, only owners may remove others. Ends the sessions of the member in this account.
   * @throws AppError `last-owner`, `authorization-insufficient-scope` or `email-unverified`
   */
  async remove(caller: SessionCaller, userId: string): Promise<void> {
    const { accountId } = caller;
    if (userId !== caller.userId) {
      requireScope(caller, 'admin');
      requireVerified(caller);
    }
    await this.#accounts.changeAccess(accountId, async transaction => {
      await transaction.lock('user', userId);
      const member = await this.#require(accountId, userId, transaction);
      await this.#requireOtherOwner(accountId, member, transaction);
      await this.#accounts.sessions.removeOfMember(accountId, userId, transaction);
      await this.#accounts.members.remove(accountId, userId, transaction);
    });
    this.#log.info('member-removed', { accountId, userId });
  }

  async #require(accountId: string, userId: string, transaction: Transaction): Promise<Member> {
    const member = await this.#accounts.members.find(accountId, userId, transaction);
    if (member !== undefined) return member;
    throw new AppError('resource-not-found', undefined, { details: { name: 'userId' } });
  }

  /** An account that only unverified users own may have been prepared for them by somebody else. */
  async #requireOtherOwner(
    accountId: string,
    { role, userId, isVerified }: Member,
    transaction: Transaction,
  ): Promise<void> {
    if (role !== 'owner') return;
    const owners = (await this.#accounts.members.list(accountId, transaction)).filter(
      other => other.role === 'owner' && other.userId !== userId,
    );
    if (owners.some(other => other.isVerified || !isVerified)) return;
    const detail =
      owners.length === 0
        ? 'An account needs an owner. Make another member an owner first.'
        : 'An account needs an owner whose email address is verified. Make such a member an owner first.';
    throw new AppError('last-owner', undefined, { details: { name: 'userId', detail } });
  }
}
