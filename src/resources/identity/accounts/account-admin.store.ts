import type { InferResult } from 'kysely';
import { type EmailAddress, readEmail } from '../../../shared/email-address.ts';
import type { Connection } from '../../../store/connection.ts';
import { ownerEmail } from '../members/members.store.ts';

export interface ListedAccount {
  readonly accountId: string;
  /** Email address of the first owner. */
  readonly email: EmailAddress | undefined;
  readonly isUpgraded: boolean;
  readonly isSuspended: boolean;
  readonly createdAtMs: number;
  /** API keys of both environments. */
  readonly keys: number;
  /** Videos of both environments, including the trash. */
  readonly videos: number;
  readonly liveStreams: number;
}

export interface UnverifiedUser {
  readonly userId: string;
  readonly email: EmailAddress;
  readonly createdAtMs: number;
}

function selectAccounts({ queries, dialect }: Connection) {
  return queries.selectFrom('accounts as a').select(expression => {
    const { fn, selectFrom } = expression;
    const projects = selectFrom('projects as p').whereRef('p.account_id', '=', 'a.id');
    return [
      'a.id',
      'a.is_upgraded',
      'a.is_suspended',
      'a.created_at_ms',
      ownerEmail(expression).as('email'),
      projects
        .innerJoin('api_keys as k', 'k.project_id', 'p.id')
        .where('k.revoked_at_ms', 'is', null)
        .select(fn.countAll<number>().as('count'))
        .as('keys'),
      (dialect === 'sqlite'
        ? projects
            .innerJoin('video_blocks_by_creation as b', 'b.project_id', 'p.id')
            .select(sum => sum.fn.sum<number>('b.videos').as('count'))
        : projects
            .innerJoin('videos as v', 'v.project_id', 'p.id')
            .select(all => all.fn.countAll<number>().as('count'))
      ).as('videos'),
      projects
        .innerJoin('list_totals as t', 't.project_id', 'p.id')
        .where('t.list', '=', 'live-streams')
        .select(sum => sum.fn.sum<number>('t.total').as('count'))
        .as('live_streams'),
    ];
  });
}

export class AccountAdminStore {
  readonly #database: Connection;

  constructor(database: Connection) {
    this.#database = database;
  }

  async list(): Promise<ListedAccount[]> {
    const accounts = selectAccounts(this.#database).orderBy('a.created_at_ms').orderBy('a.id');
    return (await this.#database.all(accounts)).map(accountFrom);
  }

  async listUnverified(): Promise<UnverifiedUser[]> {
    const { queries } = this.#database;
    const users = queries
      .selectFrom('users')
      .select(['id as userId', 'email', 'created_at_ms as createdAtMs'])
      .where('verified_at_ms', 'is', null)
      .orderBy('created_at_ms')
      .orderBy('id');
    return this.#database.all(users);
  }

  async find(emailOrId: string): Promise<ListedAccount | undefined> {
    const email = readEmail(emailOrId).email;
    const row = await this.#database.first(
      selectAccounts(this.#database).where(({ eb, or, selectFrom }) =>
        or([
          eb('a.id', '=', emailOrId),
          ...(email === undefined
            ? []
            : [
                eb(
                  'a.id',
                  '=',
                  selectFrom('members as m')
                    .innerJoin('users as u', 'u.id', 'm.user_id')
                    .select('m.account_id')
                    .where('u.email', '=', email)
                    .where('m.role', '=', 'owner')
                    .orderBy('m.created_at_ms')
                    .orderBy('m.account_id')
                    .limit(1),
                ),
              ]),
        ]),
      ),
    );
    return row === undefined ? undefined : accountFrom(row);
  }
}

type ListedRow = InferResult<ReturnType<typeof selectAccounts>>[number];

function accountFrom(row: ListedRow): ListedAccount {
  return {
    accountId: row.id,
    email: row.email ?? undefined,
    isUpgraded: row.is_upgraded === 1,
    isSuspended: row.is_suspended === 1,
    createdAtMs: row.created_at_ms,
    keys: row.keys ?? 0,
    // PostgreSQL's sums are texts.
    videos: Number(row.videos ?? 0),
    liveStreams: Number(row.live_streams ?? 0),
  };
}
