import type { TimeSlice } from '../../../shared/scheduling/time-slice.ts';
import type { Connection } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import { jsonItems, textQuery } from '../../../store/raw-query.ts';
import { columnOf, type Dimension, dimensions } from '../dimensions.ts';

/** A filter of analytics. All values must match, and the video must have one of the tags now. */
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

interface TaggedVideo {
  readonly video: number;
  readonly media: number | null;
}

const rowsPerStep = 200;
const maxListedMedia = 100;

/** Uses raw SQL: lists are bound as one JSON array, which keeps statements the same. */
export class AnalyticsFiltersStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async findProject(projectId: string): Promise<number | undefined> {
    const found = await this.#all<{ number: number }>(
      'SELECT number FROM analytics_projects WHERE project_id = ?',
      projectId,
    );
    return found[0]?.number;
  }

  /** Returns undefined when nothing can match the filter. */
  async resolve(
    projectId: string,
    filter: AnalyticsFilter,
    slice: TimeSlice,
  ): Promise<ResolvedFilter | undefined> {
    const project = await this.findProject(projectId);
    if (project === undefined) return undefined;
    const items = jsonItems(this.#database.dialect, 'text');
    const numbers = new Map<Dimension, readonly number[]>();
    for (const [dimension, values] of filter.values) {
      const found = await this.#all<{ number: number }>(
        `SELECT number FROM analytics_values WHERE value IN ${items}`,
        JSON.stringify(values),
      );
      numbers.set(
        dimension,
        found.map(({ number }) => number),
      );
    }
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
    const items = jsonItems(this.#database.dialect, 'number');
    const texts = new Map<number, string>();
    for (let first = 0; first < numbers.length; first += rowsPerStep) {
      const rows = await this.#all<{ number: number; value: string }>(
        `SELECT number, value FROM analytics_values WHERE number IN ${items}`,
        JSON.stringify(numbers.slice(first, first + rowsPerStep)),
      );
      for (const { number, value } of rows) texts.set(number, value);
      await slice.yieldIfOver();
    }
    return texts;
  }

  async #mediaWithTag(projectId: string, tag: string, slice: TimeSlice): Promise<Set<number>> {
    const text = `SELECT t.video_number AS video, a.number AS media FROM video_tags t
      JOIN videos v ON v.number = t.video_number LEFT JOIN analytics_values a ON a.value = v.id
      WHERE t.project_id = ? AND t.is_discarded = ? AND t.tag = ? AND t.video_number > ?
      ORDER BY t.video_number LIMIT ${rowsPerStep}`;
    const media = new Set<number>();
    for (const isDiscarded of [0, 1]) {
      for (let after = -1; ; ) {
        const rows = await this.#all<TaggedVideo>(text, projectId, isDiscarded, tag, after);
        for (const row of rows) if (row.media !== null) media.add(row.media);
        await slice.yieldIfOver();
        if (rows.length < rowsPerStep) break;
        after = rows.at(-1)!.video;
      }
    }
    return media;
  }

  #all<Row>(text: string, ...values: unknown[]): Promise<Row[]> {
    return this.#database.all(textQuery<Row>(this.#database, text, values));
  }
}

export function tupleConditions(
  filter: ResolvedFilter,
  dialect: Connection['dialect'],
): { sql: string; values: string[] } {
  const used = dimensions.filter(dimension => filter.numbers.has(dimension));
  return {
    sql: used.map(dimension => ` AND t.${columnOf(dimension)} IN ${jsonItems(dialect, 'number')}`).join(''),
    values: used.map(dimension => JSON.stringify(filter.numbers.get(dimension)!)),
  };
}

/** SQLite joins in the order of a CROSS JOIN. */
export function tupleJoin(dialect: Connection['dialect']): string {
  return `${dialect === 'sqlite' ? 'CROSS JOIN' : 'JOIN'} analytics_tuples t ON t.number = c.tuple`;
}
