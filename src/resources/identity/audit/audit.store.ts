import { type Expression, sql } from 'kysely';
import type { ListResult, PageRequest } from '../../../shared/list-page.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import { asText, type Bound, type PreparedQuery, prepareQuery } from '../../../store/prepared-query.ts';
import { removeInBatches } from '../../../store/remove-in-batches.ts';
import type { Environment, Row } from '../../../store/tables.ts';
import type { AuditActor, AuditEntry, AuditEvent, AuditFilter } from './audit-entry.ts';

/** Numbers entries that have the same value, so that pages and totals are found without a scan. */
const positionColumns = {
  actor_id: 'actor_position',
  action: 'action_position',
  target_id: 'target_position',
} as const;

type IndexedColumn = keyof typeof positionColumns;
type Condition = readonly [column: IndexedColumn, value: string];

/** The entries of an account, or those of them with one value, by their positions. */
interface Sequence {
  readonly accountId: string;
  readonly indexed: readonly [column: IndexedColumn, value: string] | undefined;
}

interface Range {
  readonly first: number;
  /** Last position; less than `first` when there is none. */
  readonly last: number;
}

/** Entries that are searched for several values at once: the newest ones. */
export const maxSearchedEntries = 10_000;

interface EntryValues {
  readonly accountId: string;
  readonly number: number;
  readonly atMs: number;
  readonly projectId: string | null;
  readonly environment: string | null;
  readonly actorKind: string;
  readonly actorId: string | null;
  readonly actorName: string | null;
  readonly address: string | null;
  readonly action: string;
  readonly summary: string;
  readonly targetKind: string | null;
  readonly targetId: string | null;
  readonly targetName: string | null;
  readonly changed: string | null;
}

/** Adds entries of an account one after the other, also with several servers. */
export class AuditStore {
  readonly #database: Connection;
  readonly #take: PreparedQuery<
    { accountId: string; atMs: number },
    { last_number: number; last_at_ms: number }
  >;
  readonly #insert: PreparedQuery<EntryValues, unknown>;

  constructor(database: Connection) {
    this.#database = database;
    this.#take = prepareQuery(({ accountId, atMs }: Bound<{ accountId: string; atMs: number }>) =>
      database.queries
        .insertInto('audit_counters')
        .values({ account_id: accountId, last_number: 1, last_at_ms: atMs })
        .onConflict(conflict =>
          conflict.column('account_id').doUpdateSet(({ eb }) => ({
            last_number: eb('audit_counters.last_number', '+', 1),
            // The clocks of servers differ.
            last_at_ms: eb
              .case()
              .when('audit_counters.last_at_ms', '>', eb.ref('excluded.last_at_ms'))
              .then(eb.ref('audit_counters.last_at_ms'))
              .else(eb.ref('excluded.last_at_ms'))
              .end(),
          })),
        )
        .returning(['last_number', 'last_at_ms']),
    );
    this.#insert = prepareQuery((entry: Bound<EntryValues>) => {
      const next = (column: IndexedColumn, value: Expression<string | null>) =>
        nextPosition(database, { accountId: entry.accountId, column, value });
      return database.queries.insertInto('audit_entries').values({
        account_id: entry.accountId,
        number: entry.number,
        at_ms: entry.atMs,
        project_id: entry.projectId,
        environment: entry.environment,
        actor_kind: entry.actorKind,
        actor_id: entry.actorId,
        actor_name: entry.actorName,
        address: entry.address,
        action: entry.action,
        summary: entry.summary,
        target_kind: entry.targetKind,
        target_id: entry.targetId,
        target_name: entry.targetName,
        changed: entry.changed,
        actor_position: next('actor_id', entry.actorId),
        action_position: next('action', entry.action),
        target_position: next('target_id', entry.targetId),
      });
    });
  }

  /** Takes a lock of the account until the end of the transaction. */
  async add(event: AuditEvent, atMs: number, transaction: Transaction): Promise<void> {
    const { accountId, project, actor, address, action, summary, target, changed } = event;
    const taken = (await transaction.first(this.#take({ accountId, atMs })))!;
    await transaction.run(
      this.#insert({
        accountId,
        number: taken.last_number,
        atMs: taken.last_at_ms,
        projectId: project?.projectId ?? null,
        environment: project?.environment ?? null,
        actorKind: actor.kind,
        actorId: actor.id ?? null,
        actorName: actor.name ?? null,
        address: address ?? null,
        action,
        summary,
        targetKind: target?.kind ?? null,
        targetId: target?.id ?? null,
        targetName: target?.name ?? null,
        changed: changed === undefined ? null : JSON.stringify(changed),
      }),
    );
  }

  /** Keeps others from adding entries of the account until the transaction ends. */
  async hasSince(
    { accountId, actor, action, target }: AuditEvent,
    atMs: number,
    transaction: Transaction,
  ): Promise<boolean> {
    await transaction.lock('audit', accountId);
    const found = await transaction.first(
      transaction.queries
        .selectFrom('audit_entries')
        .select('number')
        .where('account_id', '=', accountId)
        .where('target_id', '=', target?.id ?? '')
        .where('action', '=', action)
        .where('actor_id', '=', actor.id ?? '')
        .where('at_ms', '>=', atMs)
        .limit(1),
    );
    return found !== undefined;
  }

  async accountOf(projectId: string): Promise<string | undefined> {
    const project = this.#database.queries
      .selectFrom('projects')
      .select('account_id')
      .where('id', '=', projectId);
    return (await this.#database.first(project))?.account_id;
  }

  async list(
    accountId: string,
    filter: AuditFilter,
    direction: 'asc' | 'desc',
    page: PageRequest,
  ): Promise<ListResult<AuditEntry>> {
    const conditions = conditionsOf(filter);
    const sequences = await Promise.all(
      (conditions.length === 0 ? [undefined] : conditions).map(async one => {
        const sequence: Sequence = { accountId, indexed: one };
        return { sequence, range: await this.#rangeOf(sequence, filter) };
      }),
    );
    const shortest = sequences.toSorted((a, b) => lengthOf(a.range) - lengthOf(b.range))[0]!;
    const others = conditions.filter(([column]) => column !== shortest.sequence.indexed?.[0]);
    return others.length === 0 && filter.projects === undefined
      ? this.#page(shortest.sequence, shortest.range, direction, page)
      : this.#search(shortest, { others, projects: filter.projects }, direction, page);
  }

  /** Returns ids of those videos, outside the trash, and live streams of the account that exist. */
  async findExisting(accountId: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    if (ids.length === 0) return new Set();
    const { queries } = this.#database;
    const projects = queries.selectFrom('projects').select('id').where('account_id', '=', accountId);
    const videos = queries
      .selectFrom('videos')
      .select('id')
      .where('id', 'in', ids)
      .where('is_discarded', '=', 0)
      .where('project_id', 'in', projects);
    const liveStreams = queries
      .selectFrom('live_streams')
      .select('id')
      .where('id', 'in', ids)
      .where('project_id', 'in', projects);
    const found = [...(await this.#database.all(videos)), ...(await this.#database.all(liveStreams))];
    return new Set(found.map(({ id }) => id));
  }

  /** Removes entries from before `atMs`, the oldest first. */
  async removeBefore(atMs: number, signal?: AbortSignal): Promise<number> {
    const { queries } = this.#database;
    const accounts = await this.#database.all(queries.selectFrom('audit_counters').select('account_id'));
    let removed = 0;
    for (const { account_id: accountId } of accounts) {
      if (signal?.aborted) break;
      removed += await removeInBatches(limit => {
        const oldest = queries
          .selectFrom('audit_entries')
          .select(['number', 'at_ms'])
          .where('account_id', '=', accountId)
          .orderBy('number')
          .limit(limit)
          .as('oldest');
        return this.#database.run(
          queries
            .deleteFrom('audit_entries')
            .where('account_id', '=', accountId)
            .where('number', 'in', queries.selectFrom(oldest).select('number').where('at_ms', '<', atMs)),
        );
      });
    }
    return removed;
  }

  async #page(
    sequence: Sequence,
    { first, last }: Range,
    direction: 'asc' | 'desc',
    { currentPage, pageSize }: PageRequest,
  ): Promise<ListResult<AuditEntry>> {
    const total = Math.max(0, last - first + 1);
    const skipped = (currentPage - 1) * pageSize;
    if (skipped >= total) return { items: [], total };
    const position = positionOf(sequence);
    const [from, to] =
      direction === 'asc'
        ? [first + skipped, Math.min(last, first + skipped + pageSize - 1)]
        : [Math.max(first, last - skipped - pageSize + 1), last - skipped];
    const rows = await this.#database.all(
      this.#entriesOf(sequence)
        .selectAll()
        .where(position, '>=', from)
        .where(position, '<=', to)
        .orderBy(position, direction),
    );
    return { items: rows.map(entryFrom), total };
  }

  async #search(
    { sequence, range: { first, last } }: { sequence: Sequence; range: Range },
    { others, projects }: { others: readonly Condition[]; projects: AuditFilter['projects'] },
    direction: 'asc' | 'desc',
    { currentPage, pageSize }: PageRequest,
  ): Promise<ListResult<AuditEntry>> {
    const position = positionOf(sequence);
    let matching = this.#entriesOf(sequence)
      .where(position, '>=', Math.max(first, last - maxSearchedEntries + 1))
      .where(position, '<=', last);
    for (const [column, value] of others) matching = matching.where(column, '=', value);
    if (projects !== undefined) {
      matching = matching.where(({ eb, or }) => {
        const isTheirs = eb('project_id', 'in', [...projects.ids]);
        return projects.withAccount ? or([isTheirs, eb('project_id', 'is', null)]) : isTheirs;
      });
    }
    const counted = matching.select(({ fn }) => fn.countAll<number>().as('total'));
    const total = (await this.#database.first(counted))?.total ?? 0;
    const skipped = (currentPage - 1) * pageSize;
    if (skipped >= total) return { items: [], total };
    const rows = await this.#database.all(
      matching.selectAll().orderBy(position, direction).limit(pageSize).offset(skipped),
    );
    return { items: rows.map(entryFrom), total };
  }

  async #rangeOf(sequence: Sequence, { fromMs, toMs }: AuditFilter): Promise<Range> {
    const position = positionOf(sequence);
    const end = (direction: 'asc' | 'desc') =>
      this.#database.first(
        this.#entriesOf(sequence)
          .select(`${position} as position`)
          .where(position, 'is not', null)
          .orderBy(position, direction)
          .limit(1),
      );
    const [oldest, newest] = [await end('asc'), await end('desc')];
    if (oldest === undefined || newest === undefined) return { first: 1, last: 0 };
    const all: Range = { first: Number(oldest.position), last: Number(newest.position) };
    const first = fromMs === undefined ? all.first : await this.#positionAt(sequence, all, fromMs);
    const afterLast = toMs === undefined ? all.last + 1 : await this.#positionAt(sequence, all, toMs);
    return { first, last: afterLast - 1 };
  }

  /** Finds the first position that is not before `atMs` by bisection: times never decrease. */
  async #positionAt(sequence: Sequence, { first, last }: Range, atMs: number): Promise<number> {
    let [low, high] = [first, last + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = await this.#database.first(
        this.#entriesOf(sequence).select('at_ms').where(positionOf(sequence), '=', middle),
      );
      // One that was just removed is old.
      if (row === undefined || row.at_ms < atMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #entriesOf({ accountId, indexed }: Sequence) {
    const entries = this.#database.queries.selectFrom('audit_entries').where('account_id', '=', accountId);
    return indexed === undefined ? entries : entries.where(indexed[0], '=', indexed[1]);
  }
}

/** Returns the next position. Numbers begin again for a value without entries. */
function nextPosition(
  { queries }: Connection,
  same: { accountId: Expression<string>; column: IndexedColumn; value: Expression<string | null> },
) {
  const position = positionColumns[same.column];
  const last = queries
    .selectFrom('audit_entries as same')
    .select(`same.${position}`)
    .where('same.account_id', '=', asText(same.accountId))
    .where(`same.${same.column}`, '=', asText(same.value))
    .orderBy(`same.${position}`, 'desc')
    .limit(1);
  return sql<number>`coalesce((${last}), 0) + 1`;
}

function positionOf({ indexed }: Sequence) {
  return indexed === undefined ? 'number' : positionColumns[indexed[0]];
}

function lengthOf({ first, last }: Range): number {
  return last - first;
}

function conditionsOf({ actor, action, targetId }: AuditFilter): Condition[] {
  const given = [
    ['actor_id', actor],
    ['action', action],
    ['target_id', targetId],
  ] as const;
  return given.flatMap(([column, value]) => (value === undefined ? [] : [[column, value] as const]));
}

function entryFrom(row: Row<'audit_entries'>): AuditEntry {
  return {
    number: row.number,
    atMs: row.at_ms,
    accountId: row.account_id,
    ...(row.project_id === null
      ? {}
      : { project: { projectId: row.project_id, environment: row.environment as Environment } }),
    actor: {
      kind: row.actor_kind as AuditActor['kind'],
      id: row.actor_id ?? undefined,
      name: row.actor_name ?? undefined,
    },
    ...(row.address === null ? {} : { address: row.address }),
    action: row.action,
    summary: row.summary,
    target:
      row.target_kind === null || row.target_id === null
        ? undefined
        : { kind: row.target_kind, id: row.target_id, name: row.target_name ?? undefined },
    changed: row.changed === null ? undefined : (JSON.parse(row.changed) as string[]),
  };
}
