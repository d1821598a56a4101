import { sql } from 'kysely';
import { yieldToEventLoop } from '../../../shared/scheduling/yield-to-event-loop.ts';
import type { Connection } from '../../../store/connection.ts';
import { foldText } from '../../../store/folded-text.ts';
import { listTotal } from '../../../store/list-total.ts';
import type { Row } from '../../../store/tables.ts';

interface CountedTag {
  readonly value: string;
  readonly videoCount: number;
}

interface TagSort {
  readonly field: 'value' | 'videoCount';
  readonly direction: 'asc' | 'desc';
}

/** Walking through so many index rows takes about a millisecond. */
const rowsPerStep = 10_000;

const sortKeys = {
  value: ['tag_folded', 'tag'],
  videoCount: ['videos', 'tag_folded', 'tag'],
} as const;

type Key = readonly (string | number)[];
/** A range of the index, after `after`, up to and including `until`. */
interface IndexRange {
  readonly after: Key | undefined;
  readonly until: Key | undefined;
}

/** Triggers keep the counts. */
export class TagsStore {
  readonly #database: Connection;

  constructor(database: Connection) {
    this.#database = database;
  }

  async list(
    projectId: string,
    value: string | undefined,
    sort: TagSort,
    page: { currentPage: number; pageSize: number },
  ): Promise<{ tags: CountedTag[]; total: number }> {
    const skip = (page.currentPage - 1) * page.pageSize;
    const needle = foldText(value ?? '');
    const walk = new TagWalk(projectId, sort, this.#database);
    if (needle !== '') return walk.search(needle, skip, page.pageSize);
    const total = await listTotal(this.#database, projectId, 'tags');
    return { tags: skip < total ? await walk.page(skip, page.pageSize) : [], total };
  }
}

class TagWalk {
  readonly #projectId: string;
  readonly #columns: (typeof sortKeys)[TagSort['field']];
  readonly #direction: 'asc' | 'desc';
  readonly #database: Connection;

  constructor(projectId: string, { field, direction }: TagSort, database: Connection) {
    this.#projectId = projectId;
    this.#columns = sortKeys[field];
    this.#direction = direction;
    this.#database = database;
  }

  async page(skip: number, count: number): Promise<CountedTag[]> {
    let after: Key | undefined;
    let left = skip;
    for (; left >= rowsPerStep; left -= rowsPerStep) {
      after = await this.#step(after);
      if (after === undefined) return [];
      await yieldToEventLoop();
    }
    return this.#rows({ after, until: undefined }, undefined, left, count);
  }

  /** Returns the matches after the first `skip`, and the total. */
  async search(needle: string, skip: number, count: number): Promise<{ tags: CountedTag[]; total: number }> {
    const tags: CountedTag[] = [];
    let total = 0;
    let after: Key | undefined;
    do {
      const until = await this.#step(after);
      const found = await this.#count({ after, until }, needle);
      if (tags.length < count && skip < total + found) {
        const first = Math.max(0, skip - total);
        tags.push(...(await this.#rows({ after, until }, needle, first, count - tags.length)));
      }
      total += found;
      after = until;
      if (after !== undefined) await yieldToEventLoop();
    } while (after !== undefined);
    return { tags, total };
  }

  async #step(after: Key | undefined): Promise<Key | undefined> {
    const step = this.#ordered({ after, until: undefined }, undefined)
      .select([...this.#columns])
      .limit(1)
      .offset(rowsPerStep - 1);
    const row = await this.#database.first(step);
    return row === undefined ? undefined : this.#columns.map(column => row[column] as string | number);
  }

  async #count(range: IndexRange, needle: string): Promise<number> {
    const count = this.#within(range, needle).select(({ fn }) => fn.countAll<number>().as('total'));
    return (await this.#database.first(count))?.total ?? 0;
  }

  #rows(range: IndexRange, needle: string | undefined, skip: number, count: number): Promise<CountedTag[]> {
    return this.#database.all(
      this.#ordered(range, needle).select(['tag as value', 'videos as videoCount']).limit(count).offset(skip),
    );
  }

  #ordered(range: IndexRange, needle: string | undefined) {
    let query = this.#within(range, needle);
    for (const column of this.#columns) query = query.orderBy(column, this.#direction);
    return query;
  }

  #within({ after, until }: IndexRange, needle: string | undefined) {
    const { dialect, queries } = this.#database;
    // SQLite could choose the primary key, which begins with the same columns.
    const index = sql.raw(this.#columns.length === 2 ? 'tags_by_text' : 'tags_by_videos');
    const name = dialect === 'sqlite' ? sql`tags INDEXED BY ${index}` : sql`tags`;
    const key = sql`(${sql.join(this.#columns.map(column => sql.ref(column)))})`;
    const [past, upTo] = this.#direction === 'asc' ? [sql`>`, sql`<=`] : [sql`<`, sql`>=`];
    let query = queries
      .selectFrom(sql<Row<'tags'>>`tags`.as<'tags'>(name))
      .where('project_id', '=', this.#projectId)
      .where('is_discarded', '=', 0);
    if (after !== undefined) query = query.where(sql<boolean>`${key} ${past} (${sql.join(after)})`);
    if (until !== undefined) query = query.where(sql<boolean>`${key} ${upTo} (${sql.join(until)})`);
    if (needle === undefined) return query;
    const position = dialect === 'sqlite' ? sql.raw('instr') : sql.raw('strpos');
    return query.where(sql<boolean>`${position}(tag_folded, ${needle}) > 0`);
  }
}
