import type { TimeSlice } from '../../../shared/scheduling/time-slice.ts';
import type { Database } from '../../../store/database.ts';
import { columnOf, type Dimension, dimensions } from '../dimensions.ts';

/** All values must match, and a current tag of the video. */
export interface AnalyticsFilter {
  readonly values: ReadonlyMap<Dimension, readonly string[]>;
  readonly tag: string | undefined;
}

/** Uses the numbers that stand for values in the tables. */
export interface ResolvedFilter {
  readonly project: number;
  readonly numbers: ReadonlyMap<Dimension, readonly number[]>;
  /** The matching media, when they are too many for a statement. */
  readonly media: ReadonlySet<number> | undefined;
}

const rowsPerStep = 200;
const maxListedMedia = 100;

/** Uses raw SQL: lists are bound as one JSON array, which keeps statements the same. */
export class AnalyticsFiltersStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  findProject(projectId: string): number | undefined {
    return this.#database.sqlite
      .prepare<[string], number>('SELECT number FROM analytics_projects WHERE project_id = ?')
      .pluck()
      .get(projectId);
  }

  /** Returns undefined when nothing can match the filter. */
  async resolve(
    projectId: string,
    filter: AnalyticsFilter,
    slice: TimeSlice,
  ): Promise<ResolvedFilter | undefined> {
    const project = this.findProject(projectId);
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
      const tagged = await this.#mediaWithTag(projectId, filter.tag, slice);
      const wanted = numbers.get('media-id');
      if (wanted !== undefined || tagged.size <= maxListedMedia)
        numbers.set(
          'media-id',
          wanted === undefined ? [...tagged] : wanted.filter(number => tagged.has(number)),
        );
      else media = tagged;
    }
    if ([...numbers.values()].some(list => list.length === 0)) return undefined;
    return { project, numbers, media };
  }

  async loadValues(numbers: readonly number[], slice: TimeSlice): Promise<Map<number, string>> {
    const read = this.#database.sqlite
      .prepare<[string], [number, string]>(
        'SELECT number, value FROM analytics_values WHERE number IN (SELECT value FROM json_each(?))',
      )
      .raw();
    const texts = new Map<number, string>();
    for (let first = 0; first < numbers.length; first += rowsPerStep) {
      const rows = read.all(JSON.stringify(numbers.slice(first, first + rowsPerStep)));
      for (const [number, text] of rows) texts.set(number, text);
      await slice.yieldIfOver();
    }
    return texts;
  }

  async #mediaWithTag(projectId: string, tag: string, slice: TimeSlice): Promise<Set<number>> {
    const read = this.#database.sqlite
      .prepare<unknown[], [number, number | null]>(
        `SELECT t.video_number, a.number FROM video_tags t
         JOIN videos v ON v.number = t.video_number LEFT JOIN analytics_values a ON a.value = v.id
         WHERE t.project_id = ? AND t.is_discarded = ? AND t.tag = ? AND t.video_number > ?
         ORDER BY t.video_number LIMIT ${rowsPerStep}`,
      )
      .raw();
    const media = new Set<number>();
    for (const isDiscarded of [0, 1]) {
      for (let after = -1; ; ) {
        const rows = read.all(projectId, isDiscarded, tag, after);
        for (const [, number] of rows) if (number !== null) media.add(number);
        await slice.yieldIfOver();
        if (rows.length < rowsPerStep) break;
        after = rows.at(-1)![0];
      }
    }
    return media;
  }
}

export function tupleConditions(filter: ResolvedFilter): { sql: string; values: string[] } {
  const used = dimensions.filter(dimension => filter.numbers.has(dimension));
  return {
    sql: used.map(dimension => ` AND t.${columnOf(dimension)} IN (SELECT value FROM json_each(?))`).join(''),
    values: used.map(dimension => JSON.stringify(filter.numbers.get(dimension)!)),
  };
}
