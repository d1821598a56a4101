import type { Database } from '../../store/database.ts';
import { columnOf, type Dimension, dimensions } from './dimensions.ts';
import type { Turn } from './turns.ts';

/** What is looked at: values by dimension, all of which must be met, and a tag that the video has now. */
export interface AnalyticsFilter {
  readonly values: ReadonlyMap<Dimension, readonly string[]>;
  readonly tag: string | undefined;
}

/** A filter with the numbers that the tables know values by. */
export interface NumberedFilter {
  readonly project: number;
  /** A few for each dimension. */
  readonly numbers: ReadonlyMap<Dimension, readonly number[]>;
  /** The media that count, where they are too many to be named in a statement. */
  readonly media: ReadonlySet<number> | undefined;
}

const rowsInAStep = 200;
const numbersAtMost = 100;

/** Looks up what filters and answers name. */
export class AnalyticsFilters {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The number of a project; undefined while nothing was ever counted for it. */
  projectOf(projectId: string): number | undefined {
    return this.#database.sqlite
      .prepare<[string], number>('SELECT number FROM analytics_projects WHERE project_id = ?')
      .pluck()
      .get(projectId);
  }

  /** A filter as the tables know it; undefined where nothing can meet it. */
  async numbered(
    projectId: string,
    filter: AnalyticsFilter,
    turn: Turn,
  ): Promise<NumberedFilter | undefined> {
    const project = this.projectOf(projectId);
    if (project === undefined) return undefined;
    const find = this.#database.sqlite
      .prepare<[string], number>(
        'SELECT number FROM analytics_values WHERE value IN (SELECT value FROM json_each(?))',
      )
      .pluck();
    const numbers = new Map<Dimension, readonly number[]>();
    for (const [dimension, values] of filter.values) numbers.set(dimension, find.all(JSON.stringify(values)));
    let media: Set<number> | undefined;
    if (filter.tag !== undefined) {
      const tagged = await this.#mediaWithTag(projectId, filter.tag, turn);
      const wanted = numbers.get('media-id');
      if (wanted !== undefined || tagged.size <= numbersAtMost)
        numbers.set(
          'media-id',
          wanted === undefined ? [...tagged] : wanted.filter(number => tagged.has(number)),
        );
      else media = tagged;
    }
    if ([...numbers.values()].some(list => list.length === 0)) return undefined;
    return { project, numbers, media };
  }

  /** Texts of values by their numbers. */
  async textsOf(numbers: readonly number[], turn: Turn): Promise<Map<number, string>> {
    const read = this.#database.sqlite
      .prepare<[string], [number, string]>(
        'SELECT number, value FROM analytics_values WHERE number IN (SELECT value FROM json_each(?))',
      )
      .raw();
    const texts = new Map<number, string>();
    for (let first = 0; first < numbers.length; first += rowsInAStep) {
      const rows = read.all(JSON.stringify(numbers.slice(first, first + rowsInAStep)));
      for (const [number, text] of rows) texts.set(number, text);
      await turn.pause();
    }
    return texts;
  }

  async #mediaWithTag(projectId: string, tag: string, turn: Turn): Promise<Set<number>> {
    const read = this.#database.sqlite
      .prepare<unknown[], [number, number | null]>(
        `SELECT t.video_number, a.number FROM video_tags t
         JOIN videos v ON v.number = t.video_number LEFT JOIN analytics_values a ON a.value = v.id
         WHERE t.project_id = ? AND t.is_discarded = ? AND t.tag = ? AND t.video_number > ?
         ORDER BY t.video_number LIMIT ${rowsInAStep}`,
      )
      .raw();
    const media = new Set<number>();
    for (const isDiscarded of [0, 1]) {
      for (let after = -1; ; ) {
        const rows = read.all(projectId, isDiscarded, tag, after);
        for (const [, number] of rows) if (number !== null) media.add(number);
        await turn.pause();
        if (rows.length < rowsInAStep) break;
        after = rows.at(-1)![0];
      }
    }
    return media;
  }
}

/** A filter as conditions on the tuples `t`, with what to bind. */
export function tupleConditions(filter: NumberedFilter): { sql: string; values: string[] } {
  const used = dimensions.filter(dimension => filter.numbers.has(dimension));
  return {
    sql: used.map(dimension => ` AND t.${columnOf(dimension)} IN (SELECT value FROM json_each(?))`).join(''),
    values: used.map(dimension => JSON.stringify(filter.numbers.get(dimension)!)),
  };
}
