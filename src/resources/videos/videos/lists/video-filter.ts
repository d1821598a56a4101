import { foldText } from '../../../../store/folded-text.ts';
import type { Row } from '../../../../store/tables.ts';

export type VideoListState = Row<'videos'>['state'];

export interface VideoFilter {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly metadata?: ReadonlyMap<string, readonly string[]> | undefined;
  readonly liveStreamId?: string | undefined;
  readonly status?: VideoListState | undefined;
  readonly public?: boolean | undefined;
  readonly sourceType?: 'upload' | 'liveStream' | undefined;
  /** Videos created at this time or later. */
  readonly createdFromMs?: number | undefined;
  /** Videos created before this time. */
  readonly createdToMs?: number | undefined;
}

/** A filter without empty conditions and duplicates. */
export interface FoldedFilter {
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly tags: readonly string[];
  readonly metadata: readonly (readonly [key: string, value: string])[];
  readonly liveStreamId: string | undefined;
  readonly columns: ColumnFilter;
}

/** Conditions that compare a column of the video. */
type ColumnFilter = Pick<VideoFilter, 'status' | 'public' | 'sourceType' | 'createdFromMs' | 'createdToMs'>;

type SqlValue = string | number;

/** Conditions on `videos AS v`, each with ` AND ` in front. */
export interface SqlConditions {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

export function foldFilter(filter: VideoFilter): FoldedFilter {
  return {
    title: foldText(filter.title ?? '') || undefined,
    description: foldText(filter.description ?? '') || undefined,
    tags: [...new Set(filter.tags)].sort(),
    metadata: [...(filter.metadata ?? [])]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([key, values]) => [...new Set(values)].sort().map(value => [key, value] as const)),
    liveStreamId: filter.liveStreamId,
    columns: {
      status: filter.status,
      public: filter.public,
      sourceType: filter.sourceType,
      createdFromMs: filter.createdFromMs,
      createdToMs: filter.createdToMs,
    },
  };
}

/** Conditions on `videos AS v`, for both databases. */
export function columnConditionsOf({
  columns: { status, public: isPublic, sourceType, createdFromMs, createdToMs },
}: FoldedFilter): readonly (readonly [sql: string, value?: SqlValue])[] {
  return [
    ...(status === undefined ? [] : [['v.state =', status] as const]),
    ...(isPublic === undefined ? [] : [[`v.is_public = ${Number(isPublic)}`] as const]),
    ...(sourceType === undefined
      ? []
      : [[`v.live_stream_id IS ${sourceType === 'upload' ? '' : 'NOT '}NULL`] as const]),
    ...(createdFromMs === undefined ? [] : [['v.created_at_ms >=', createdFromMs] as const]),
    ...(createdToMs === undefined ? [] : [['v.created_at_ms <', createdToMs] as const]),
  ];
}

/** Cheapest first. */
export function sqlConditionsOf(filter: FoldedFilter): SqlConditions {
  const sql: string[] = [];
  const values: SqlValue[] = [];
  const add = (condition: string, ...of: SqlValue[]) => {
    sql.push(` AND ${condition}`);
    values.push(...of);
  };
  if (filter.liveStreamId !== undefined) add('v.live_stream_id = ?', filter.liveStreamId);
  for (const [condition, value] of columnConditionsOf(filter)) {
    if (value === undefined) add(condition);
    else add(`${condition} ?`, value);
  }
  if (filter.title !== undefined) add('instr(v.title_folded, ?) > 0', filter.title);
  for (const tag of filter.tags) {
    add(
      `EXISTS (SELECT 1 FROM video_tags t WHERE t.project_id = v.project_id AND t.is_discarded = v.is_discarded
         AND t.tag = ? AND t.video_number = v.number)`,
      tag,
    );
  }
  for (const [key, value] of filter.metadata) {
    add(
      `EXISTS (SELECT 1 FROM video_metadata m WHERE m.project_id = v.project_id AND m.is_discarded = v.is_discarded
         AND m.key = ? AND m.value = ? AND m.video_number = v.number)`,
      key,
      value,
    );
  }
  if (filter.description !== undefined) add('instr(v.description_folded, ?) > 0', filter.description);
  return { sql: sql.join(''), values };
}

export function singleConditionOf(filter: FoldedFilter): { title?: string; tag?: string } | undefined {
  const { title, description, tags, metadata, liveStreamId } = filter;
  const texts = [title, description, liveStreamId].filter(text => text !== undefined);
  const columns = columnConditionsOf(filter);
  if (texts.length + tags.length + metadata.length + columns.length !== 1) return undefined;
  if (title !== undefined) return { title };
  return tags[0] === undefined ? {} : { tag: tags[0] };
}

/** Limit of one trigram phrase: enough characters to be rare, few enough to be fast for any text. */
const maxIndexedCharacters = 12;

/** A trigram query. Unless it `isExact`, it may find more videos than the filter. */
interface TrigramQuery {
  readonly match: string;
  readonly isExact: boolean;
}

/** Undefined when no text has three characters. */
export function trigramQuery(filter: FoldedFilter): TrigramQuery | undefined {
  const needles = [
    { column: 'title', characters: [...(filter.title ?? '')] },
    { column: 'description', characters: [...(filter.description ?? '')] },
  ].filter(({ characters }) => characters.length > 0);
  const indexed = needles.filter(({ characters }) => characters.length >= 3);
  if (indexed.length === 0) return undefined;
  const phrases = indexed.map(({ column, characters }) => {
    const text = characters.slice(0, maxIndexedCharacters).join('').replaceAll('"', '""');
    return `${column} : "${text}"`;
  });
  const isWhole = needles.every(
    ({ characters: { length } }) => length >= 3 && length <= maxIndexedCharacters,
  );
  const isTextOnly =
    filter.tags.length === 0 &&
    filter.metadata.length === 0 &&
    filter.liveStreamId === undefined &&
    columnConditionsOf(filter).length === 0;
  return { match: phrases.join(' AND '), isExact: isWhole && isTextOnly };
}
