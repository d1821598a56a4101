import { expect, it, onTestFinished } from 'vitest';
import { openDatabase } from '../../src/store/open-database.ts';
import { type Bound, prepareQuery } from '../../src/store/prepared-query.ts';
import { testTempDir } from '../support/temp-dir.ts';

it('binds the values of each run to a query that is built once', async () => {
  const database = await openDatabase({ dataDir: await testTempDir() });
  onTestFinished(() => database.stop());
  const { queries } = database;
  let built = 0;
  const upsert = prepareQuery(({ began, last }: Bound<{ began: number; last: number }>) => {
    built += 1;
    return queries
      .insertInto('database_uses')
      .values({ began_at_ms: began, last_at_ms: last })
      .onConflict(conflict => conflict.column('began_at_ms').doUpdateSet({ last_at_ms: last }));
  });
  const find = prepareQuery(({ from, max }: Bound<{ from: number; max: number }>) =>
    queries.selectFrom('database_uses').selectAll().where('began_at_ms', '>=', from).limit(max),
  );

  for (const [began, last] of [
    [1, 5],
    [2, 6],
    [2, 7],
  ] as const) {
    expect(await database.run(upsert({ began, last }))).toBe(1);
  }
  expect(built).toBe(1);
  expect(await database.first(find({ from: 2, max: 9 }))).toEqual({ began_at_ms: 2, last_at_ms: 7 });
  expect(await database.first(find({ from: 3, max: 9 }))).toBeUndefined();
  expect((await database.all(find({ from: 0, max: 1 }))).map(row => row.began_at_ms)).toEqual([1]);
});

it('writes the limit of a first page as a literal for SQLite, which then keeps the statement prepared', async () => {
  const database = await openDatabase({ dataDir: await testTempDir() });
  onTestFinished(() => database.stop());
  const page = database.queries.selectFrom('database_uses').selectAll().limit(2).offset(0);
  expect(page.compile()).toMatchObject({
    sql: 'select * from "database_uses" limit 2 offset 0',
    parameters: [],
  });
  expect(await database.all(page)).toEqual([]);
});
