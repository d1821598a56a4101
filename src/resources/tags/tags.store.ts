import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { Database } from '../../store/database.ts';
import { foldText } from '../../store/folded-text.ts';
import { listTotal } from '../../store/list-total.ts';

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

type Statement = ReturnType<Database['sqlite']['prepare']>;
type Key = readonly (string | number)[];
/** After `after`, up to and including `until`. */
interface IndexRange {
  readonly after: Key | undefined;
  readonly until: Key | undefined;
}

/** Triggers keep the counts. Raw SQL, because the query builder has no `INDEXED BY`. */
export class TagsStore {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database) {
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
    const walk = new TagWalk(projectId, sort, sql => this.#prepare(sql));
    if (needle !== '') return walk.search(needle, skip, page.pageSize);
    const total = listTotal(this.#database, projectId, 'tags');
    return { tags: skip < total ? await walk.page(skip, page.pageSize) : [], total };
  }

  /** Prepares about two dozen texts: one per sort, direction and shape of a range. */
  #prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.sqlite.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

class TagWalk {
  readonly #projectId: string;
  readonly #columns: readonly string[];
  readonly #direction: 'asc' | 'desc';
  readonly #prepare: (sql: string) => Statement;

  constructor(projectId: string, { field, direction }: TagSort, prepare: (sql: string) => Statement) {
    this.#projectId = projectId;
    this.#columns = sortKeys[field];
    this.#direction = direction;
    this.#prepare = prepare;
  }

  async page(skip: number, count: number): Promise<CountedTag[]> {
    let after: Key | undefined;
    let left = skip;
    for (; left >= rowsPerStep; left -= rowsPerStep) {
      after = this.#step(after);
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
      const until = this.#step(after);
      const found = this.#count({ after, until }, needle);
      if (tags.length < count && skip < total + found) {
        const first = Math.max(0, skip - total);
        tags.push(...this.#rows({ after, until }, needle, first, count - tags.length));
      }
      total += found;
      after = until;
      if (after !== undefined) await yieldToEventLoop();
    } while (after !== undefined);
    return { tags, total };
  }

  #step(after: Key | undefined): Key | undefined {
    const { sql, values } = this.#from({ after, until: undefined }, undefined);
    const text = `SELECT ${this.#columns.join(', ')} ${sql} ${this.#order()} LIMIT 1 OFFSET ${rowsPerStep - 1}`;
    return this.#prepare(text).raw().get(values) as Key | undefined;
  }

  #count(stretch: IndexRange, needle: string): number {
    const { sql, values } = this.#from(stretch, needle);
    return (this.#prepare(`SELECT count(*) AS total ${sql}`).get(values) as { total: number }).total;
  }

  #rows(stretch: IndexRange, needle: string | undefined, skip: number, count: number): CountedTag[] {
    const { sql, values } = this.#from(stretch, needle);
    const text = `SELECT tag AS value, videos AS videoCount ${sql} ${this.#order()} LIMIT ? OFFSET ?`;
    return this.#prepare(text).all([...values, count, skip]) as CountedTag[];
  }

  #order(): string {
    return `ORDER BY ${this.#columns.map(column => `${column} ${this.#direction}`).join(', ')}`;
  }

  #from(
    { after, until }: IndexRange,
    needle: string | undefined,
  ): { sql: string; values: (string | number)[] } {
    const key = `(${this.#columns.join(', ')})`;
    const marks = `(${this.#columns.map(() => '?').join(', ')})`;
    const [past, upTo] = this.#direction === 'asc' ? ['>', '<='] : ['<', '>='];
    const index = this.#columns.length === 2 ? 'tags_by_text' : 'tags_by_videos';
    return {
      sql: `FROM tags INDEXED BY ${index} WHERE project_id = ? AND is_discarded = 0
        ${after === undefined ? '' : `AND ${key} ${past} ${marks}`}
        ${until === undefined ? '' : `AND ${key} ${upTo} ${marks}`}
        ${needle === undefined ? '' : 'AND instr(tag_folded, ?) > 0'}`,
      values: [
        this.#projectId,
        ...(after ?? []),
        ...(until ?? []),
        ...(needle === undefined ? [] : [needle]),
      ],
    };
  }
}
