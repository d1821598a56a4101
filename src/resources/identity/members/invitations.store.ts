import type { EmailAddress } from '../../../shared/email-address.ts';
import { newId } from '../../../shared/ids.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import { hashOfSecret } from '../accounts/account.ts';
import type { Invitation, MailState, Role } from './member.ts';

interface InvitationRow {
  id: string;
  account_id: string;
  email: EmailAddress;
  role: Role;
  created_at_ms: number;
  expires_at_ms: number;
  mail_status: MailState['status'] | null;
  mail_failure: string | null;
}

/** Stores only hashes of tokens. */
export class InvitationsStore {
  readonly #database: Connection;

  constructor(database: Connection) {
    this.#database = database;
  }

  /** Open ones, oldest first. */
  async list(
    accountId: string,
    nowMs: number,
    connection: Connection = this.#database,
  ): Promise<Invitation[]> {
    const query = selectInvitations(connection, nowMs)
      .where('account_id', '=', accountId)
      .orderBy('created_at_ms')
      .orderBy('id');
    return (await connection.all(query)).map(invitationFrom);
  }

  async find(accountId: string, invitationId: string, nowMs: number): Promise<Invitation | undefined> {
    const query = selectInvitations(this.#database, nowMs);
    const row = await this.#database.first(
      query.where('account_id', '=', accountId).where('id', '=', invitationId),
    );
    return row === undefined ? undefined : invitationFrom(row);
  }

  async findByToken(
    token: string,
    nowMs: number,
  ): Promise<(Invitation & { readonly isMailed: boolean }) | undefined> {
    const hash = hashOfSecret(token);
    const query = selectInvitations(this.#database, nowMs).select('mail_token_hash');
    const row = await this.#database.first(
      query.where(({ eb, or }) => or([eb('token_hash', '=', hash), eb('mail_token_hash', '=', hash)])),
    );
    if (row === undefined) return undefined;
    return { ...invitationFrom(row), isMailed: row.mail_token_hash?.equals(hash) === true };
  }

  /** Replaces an earlier invitation of the same email address. */
  async add(
    invitation: Omit<Invitation, 'invitationId'> & {
      readonly token: string;
      readonly mailToken: string | undefined;
    },
    transaction: Transaction,
  ): Promise<Invitation> {
    const { queries } = transaction;
    const { accountId, email, role, createdAtMs, expiresAtMs, mail } = invitation;
    const invitationId = newId('in');
    await transaction.run(
      queries.deleteFrom('invitations').where('account_id', '=', accountId).where('email', '=', email),
    );
    await transaction.run(
      queries.insertInto('invitations').values({
        id: invitationId,
        account_id: accountId,
        email,
        role,
        token_hash: hashOfSecret(invitation.token),
        mail_token_hash: invitation.mailToken === undefined ? null : hashOfSecret(invitation.mailToken),
        created_at_ms: createdAtMs,
        expires_at_ms: expiresAtMs,
        mail_status: mail?.status ?? null,
      }),
    );
    return { invitationId, accountId, email, role, createdAtMs, expiresAtMs, mail };
  }

  async setMail(invitationId: string, { status, failure }: MailState): Promise<void> {
    const { queries } = this.#database;
    const changes = { mail_status: status, mail_failure: failure ?? null };
    await this.#database.run(queries.updateTable('invitations').set(changes).where('id', '=', invitationId));
  }

  /** Returns false when it was used or revoked before. */
  async remove(invitationId: string, connection: Connection = this.#database): Promise<boolean> {
    const removed = connection.queries.deleteFrom('invitations').where('id', '=', invitationId);
    return (await connection.run(removed)) > 0;
  }

  removeExpired(nowMs: number, limit: number): Promise<number> {
    const { queries } = this.#database;
    const expired = queries.selectFrom('invitations').select('id').where('expires_at_ms', '<=', nowMs);
    return this.#database.run(queries.deleteFrom('invitations').where('id', 'in', expired.limit(limit)));
  }
}

function selectInvitations({ queries }: Connection, nowMs: number) {
  return queries
    .selectFrom('invitations')
    .select(['id', 'account_id', 'email', 'role', 'created_at_ms', 'expires_at_ms'])
    .select(['mail_status', 'mail_failure'])
    .where('expires_at_ms', '>', nowMs);
}

function invitationFrom(row: InvitationRow): Invitation {
  return {
    invitationId: row.id,
    accountId: row.account_id,
    email: row.email,
    role: row.role,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    mail:
      row.mail_status === null
        ? undefined
        : { status: row.mail_status, ...(row.mail_failure === null ? {} : { failure: row.mail_failure }) },
  };
}
