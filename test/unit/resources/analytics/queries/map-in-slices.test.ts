import Sqlite from 'better-sqlite3';
import type { Compilable } from 'kysely';
import { describe, expect, it } from 'vitest';
import { mapInSlices, sortInSlices } from '../../../../../src/resources/analytics/queries/map-in-slices.ts';
import { readRowsInSlices } from '../../../../../src/resources/analytics/queries/read-rows-in-slices.ts';
import { TimeSlice } from '../../../../../src/shared/scheduling/time-slice.ts';
import { SqliteConnection } from '../../../../../src/store/sqlite-connection.ts';

function connectionOf(sqlite: Sqlite.Database) {
  const connection = new SqliteConnection(sqlite);
  return {
    dialect: 'sqlite' as const,
    all: async <Row>(query: Compilable<Row>) => connection.all(query.compile()),
    first: async <Row>(query: Compilable<Row>) => connection.first(query.compile()),
  };
}

describe('sortInSlices and mapInSlices', () => {
  it.each([0, 1, 499, 500, 501, 1_000, 2_750])('sort %i items stably and map them', async count => {
    const items = Array.from({ length: count }, (_, index) => ({ index, key: (index * 7_919) % 101 }));
    const slice = new TimeSlice(3);
    const sorted = await sortInSlices(items, slice, (a, b) => a.key - b.key);
    expect(sorted).toEqual([...items].sort((a, b) => a.key - b.key));
    expect(await mapInSlices(items, slice, ({ key }) => key)).toEqual(items.map(({ key }) => key));
  });
});

describe('readRowsInSlices', () => {
  it('reads all rows once, a bounded number at a time, even when they share one timestamp', async () => {
    const sqlite = new Sqlite(':memory:');
    try {
      sqlite.exec(
        'CREATE TABLE rows (project INTEGER, at INTEGER, tuple INTEGER, PRIMARY KEY (project, at, tuple)) WITHOUT ROWID',
      );
      sqlite.exec(
        `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 19999)
         INSERT INTO rows SELECT 1 + (i % 4 = 0), 60 * (i % 1000 = 0), i FROM n`,
      );
      const pieces: number[] = [];
      const read: number[] = [];
      await readRowsInSlices<{ tuple: number }>(
        connectionOf(sqlite),
        { table: 'rows c', fixed: 'c.project = ?', keys: ['at', 'tuple'] },
        {
          columns: 'c.tuple, c.at',
          join: '',
          conditions: 'AND c.tuple % 2 = ?',
          values: [0],
          end: 'ORDER BY c.at, c.tuple',
        },
        {
          stretches: [
            { fixed: [2], from: 0, to: 60 },
            { fixed: [1], from: 0, to: 61 },
            { fixed: [3], from: 0, to: 61 },
          ],
          slice: new TimeSlice(3),
          take: rows => {
            pieces.push(rows.length);
            read.push(...rows.map(({ tuple }) => tuple));
          },
        },
      );
      const all = Array.from({ length: 20_000 }, (_, index) => index);
      expect(read).toEqual([
        ...all.filter(index => index % 4 === 0 && index % 1_000 !== 0),
        ...all.filter(index => index % 4 === 2),
      ]);
      expect(pieces.length).toBeGreaterThan(5);
      expect(Math.max(...pieces)).toBeLessThanOrEqual(4_096);
    } finally {
      sqlite.close();
    }
  });
});
