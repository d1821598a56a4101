import type { ExpressionBuilder, InferResult } from 'kysely';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Row, Tables } from '../../../store/tables.ts';
import type { Member, Membership, Role } from './member.ts';

/** The email address of an account's first owner, as a subquery. */
export function ownerEmail({ selectFrom }: ExpressionBuilder<Tables & { a: Row<'accounts'> }, 'a'>) {
  return selectFrom('members as om')
    .innerJoin('users as ou', 'ou.id', 'om.user_id')
    .select('ou.email')
    .whereRef('om.account_id', '=', 'a.id')
    .where('om.role', '=', 'owner')
    .orderBy('om.created_at_ms')
    .orderBy('ou.id')
    .limit(1);
}

/** Change members within `AccountsStore.changeAccess`, with the user locked. */
export class MembersStore {
  readonly #database: Connection;

  constructor(database: Connection) {
    this.#database = database;
  }

  /** Lists members in the order in which they joined. */
  async list(accountId: string, connection: Connection = this.#database): Promise<Member[]> {
    const query = selectMembers(connection, accountId).orderBy('m.created_at_ms').orderBy('u.id');
    return (await connection.all(query)).map(memberFrom);
  }

  async find(
    accountId: string,
    userId: string,
    connection: Connection = this.#database,
  ): Promise<Member | undefined> {
    const row = await connection.first(selectMembers(connection, accountId).where('u.id', '=', userId));
    return row === undefined ? undefined : memberFrom(row);
  }

  async count(accountId: string, connection: Connection): Promise<number> {
    const query = connection.queries
      .selectFrom('members')
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .where('account_id', '=', accountId);
    return Number((await connection.first(query))?.total ?? 0);
  }

  /** The accounts of a user, in the order in which they joined. */
  async listAccounts(userId: string, connection: Connection = this.#database): Promise<Membership[]> {
    const rows = await connection.all(
      connection.queries
        .selectFrom('members as m')
        .innerJoin('accounts as a', 'a.id', 'm.account_id')
        .select(['m.account_id', 'm.role', 'a.name', 'a.is_suspended'])
        .select(expression => ownerEmail(expression).as('owner_email'))
        .where('m.user_id', '=', userId)
        .orderBy('m.created_at_ms')
        .orderBy('a.id'),
    );
    return rows.map(row => ({
      accountId: row.account_id,
      name: row.name ?? undefined,
      ownerEmail: row.owner_email ?? undefined,
      role: row.role,
      isSuspended: row.is_suspended === 1,
    }));
  }

  async add(
    member: { accountId: string; userId: string; role: Role; createdAtMs: number },
    connection: Connection,
  ): Promise<void> {
    await connection.run(
      connection.queries.insertInto('members').values({
        account_id: member.accountId,
        user_id: member.userId,
        role: member.role,
        created_at_ms: member.createdAtMs,
      }),
    );
  }

  /**
   * Makes users without an account owners of the one they were created in: versions before roles create users without a
   * membership. Users who lose their last membership are deleted.
   */
  addMissing(): Promise<number> {
    const { queries } = this.#database;
    const missing = queries
      .selectFrom('users as u')
      .select(({ val }) => ['u.account_id', 'u.id', val<Role>('owner').as('role'), 'u.created_at_ms'])
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('members as m').select('m.user_id').whereRef('m.user_id', '=', 'u.id'))),
      );
    return this.#database.run(
      queries
        .insertInto('members')
        .columns(['account_id', 'user_id', 'role', 'created_at_ms'])
        .expression(missing)
        .onConflict(conflict => conflict.doNothing()),
    );
  }

  async setRole(accountId: string, userId: string, role: Role, transaction: Transaction): Promise<void> {
    await transaction.run(
      transaction.queries
        .updateTable('members')
        .set({ role })
        .where('account_id', '=', accountId)
        .where('user_id', '=', userId),
    );
  }

  /** Ends memberships of the user in other accounts that have another owner. */
  async leaveOthers(userId: string, accountId: string, transaction: Transaction): Promise<void> {
    const { queries } = transaction;
    await transaction.run(
      queries
        .deleteFrom('members')
        .where('user_id', '=', userId)
        .where('account_id', '!=', accountId)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('members as o')
              .select('o.user_id')
              .whereRef('o.account_id', '=', 'members.account_id')
              .where('o.role', '=', 'owner')
              .where('o.user_id', '!=', userId),
          ),
        ),
    );
    const [first] = await this.listAccounts(userId, transaction);
    const moved = queries.updateTable('users').set({ account_id: first!.accountId });
    await transaction.run(moved.where('id', '=', userId));
  }

  /** Deletes the user with the last membership, so that the email address can be invited again. */
  async remove(accountId: string, userId: string, transaction: Transaction): Promise<void> {
    const { queries } = transaction;
    await transaction.run(
      queries.deleteFrom('members').where('account_id', '=', accountId).where('user_id', '=', userId),
    );
    const [next] = await this.listAccounts(userId, transaction);
    if (next === undefined) await transaction.run(queries.deleteFrom('users').where('id', '=', userId));
    else {
      const moved = queries.updateTable('users').set({ account_id: next.accountId });
      await transaction.run(moved.where('id', '=', userId).where('account_id', '=', accountId));
    }
  }
}

function selectMembers({ queries }: Connection, accountId: string) {
  return queries
    .selectFrom('members as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select(['u.id', 'u.email', 'u.verified_at_ms', 'm.role', 'm.created_at_ms'])
    .where('m.account_id', '=', accountId);
}

function memberFrom(row: InferResult<ReturnType<typeof selectMembers>>[number]): Member {
  return {
    userId: row.id,
    email: row.email,
    isVerified: row.verified_at_ms !== null,
    role: row.role,
    createdAtMs: row.created_at_ms,
  };
}
