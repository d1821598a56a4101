import type { Connection } from '../../../store/connection.ts';
import { textQuery } from '../../../store/raw-query.ts';
import { dimensions } from '../dimensions.ts';
import { counterNames } from './playback.ts';

/** Rows of a statement of PostgreSQL. On SQLite, a statement for each row costs nothing. */
const rowsPerStatement = 500;
const valueColumns = dimensions.map(dimension => dimension.replaceAll('-', '_'));

interface Upsert {
  readonly table: string;
  readonly key: readonly string[];
  readonly others?: readonly string[];
  /** Assignments that change existing rows. */
  readonly changes: string;
}

const counts = (table: string, key: readonly string[], others: readonly string[] = []): Upsert => ({
  table,
  key,
  others: [...others, ...counterNames],
  changes: counterNames.map(name => `${name} = ${table}.${name} + excluded.${name}`).join(', '),
});
export const upserts = {
  minutes: counts('analytics_minutes', ['project', 'at', 'tuple']),
  hours: counts('analytics_hours', ['project', 'at', 'tuple'], ['media_id']),
  sums: counts('analytics_sums', ['project', 'dimension', 'span', 'at', 'value']),
  totals: {
    table: 'analytics_totals',
    key: ['project', 'media_id'],
    others: ['media_type', 'plays'],
    changes: 'plays = analytics_totals.plays + excluded.plays',
  },
  intervals: {
    table: 'analytics_stays',
    key: ['project', 'begins', 'playback'],
    others: ['ends', 'tuple', 'viewer', 'views'],
    changes: `ends = CASE WHEN excluded.ends > analytics_stays.ends THEN excluded.ends ELSE analytics_stays.ends END,
      views = analytics_stays.views | excluded.views`,
  },
  endedIntervals: {
    table: 'analytics_stays',
    key: ['project', 'begins', 'playback'],
    others: ['ends', 'tuple', 'viewer', 'views'],
    changes: 'ends = excluded.ends, views = analytics_stays.views | excluded.views',
  },
} satisfies Record<string, Upsert>;

/** Keys of all tables with counts of projects. */
export const keysOfCounts: readonly Pick<Upsert, 'table' | 'key'>[] = [
  ...[upserts.minutes, upserts.hours, upserts.sums, upserts.totals, upserts.intervals],
  { table: 'analytics_project_totals', key: ['project', 'media_type'] },
  { table: 'analytics_tuples', key: ['number'] },
];

export const insertValue = `INSERT INTO analytics_values (value, used_day) VALUES (?, ?)
  ON CONFLICT (value) DO UPDATE SET used_day = excluded.used_day RETURNING number`;
export const insertProject = `INSERT INTO analytics_projects (project_id) SELECT id FROM projects WHERE id = ?
  ON CONFLICT (project_id) DO UPDATE SET project_id = excluded.project_id RETURNING number`;
const tupleKey = ['project', ...valueColumns].join(', ');
export const insertTuple = `INSERT INTO analytics_tuples (${tupleKey}, used_day)
  VALUES (${[...valueColumns, 'project', 'used_day'].map(() => '?').join(', ')})
  ON CONFLICT (${tupleKey}) DO UPDATE SET used_day = excluded.used_day RETURNING number`;
export const playbackColumns = 'key, seen, watched_ms, last_event_ms, touched_at_ms, progress';
export const insertPlaybacks = {
  sqlite: `INSERT INTO analytics_playbacks (${playbackColumns}) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (key) DO NOTHING RETURNING number, key`,
  postgres: `INSERT INTO analytics_playbacks (${playbackColumns})
    SELECT * FROM unnest(?::bytea[], ?::bigint[], ?::bigint[], ?::float8[], ?::bigint[], ?::text[])
    ON CONFLICT (key) DO NOTHING RETURNING number, key`,
};
/** Changes only those that are stored as this server knows them. */
export const updatePlaybacks = {
  sqlite: `UPDATE analytics_playbacks SET seen = ?, watched_ms = ?, last_event_ms = ?, touched_at_ms = ?, progress = ?
    WHERE number = ? AND seen = ? AND watched_ms = ? AND last_event_ms = ? RETURNING number, key`,
  postgres: `UPDATE analytics_playbacks p SET seen = v.seen, watched_ms = v.watched_ms, last_event_ms = v.last_event_ms,
      touched_at_ms = v.touched_at_ms, progress = v.progress
    FROM unnest(?::bigint[], ?::bigint[], ?::float8[], ?::bigint[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::float8[])
      AS v(seen, watched_ms, last_event_ms, touched_at_ms, progress, number, old_seen, old_watched_ms, old_last_event_ms)
    WHERE p.number = v.number AND p.seen = v.old_seen AND p.watched_ms = v.old_watched_ms
      AND p.last_event_ms = v.old_last_event_ms RETURNING p.number, p.key`,
};

/** Values of one statement for each row on SQLite, and of arrays with many rows on PostgreSQL. */
export function* statementValues(
  { dialect }: Pick<Connection, 'dialect'>,
  rows: readonly (readonly unknown[])[],
): Iterable<readonly unknown[]> {
  if (dialect === 'sqlite') yield* rows;
  else {
    for (let first = 0; first < rows.length; first += rowsPerStatement) {
      const some = rows.slice(first, first + rowsPerStatement);
      yield some[0]!.map((_, column) => some.map(row => row[column]));
    }
  }
}

/** Rows have distinct keys. */
export async function upsert(
  connection: Connection,
  { table, key, others = [], changes }: Upsert,
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  const columns = [...key, ...others];
  const isText = (column: string) =>
    column === 'media_type' || (column === 'media_id' && table === 'analytics_totals');
  const source =
    connection.dialect === 'sqlite'
      ? `VALUES (${columns.map(() => '?').join(', ')})`
      : `SELECT * FROM unnest(${columns.map(column => (isText(column) ? '?::text[]' : '?::bigint[]')).join(', ')})`;
  const text = `INSERT INTO ${table} (${columns.join(', ')}) ${source}
    ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${changes}`;
  for (const values of statementValues(connection, rows))
    await connection.run(textQuery(connection, text, values));
}
