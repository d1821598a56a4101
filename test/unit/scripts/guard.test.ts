import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Baseline, formatBaseline, ratioTable, runGuard } from '../../../scripts/bench/guard.ts';
import { judge, type Row } from '../../../scripts/bench/report.ts';
import { projectRoot } from '../../../scripts/project-files.ts';

const baseline: Baseline = {
  measured: 'A machine, 2026-11-29',
  ratios: [
    { bench: 'api', what: 'GET by Koa', value: 0.4, better: 'higher' },
    { bench: 'live-cost', what: 'processor by nginx', value: 1.5, better: 'lower' },
  ],
};

function rowsOf(bench: string, what: string, value: number, better: 'higher' | 'lower'): Row[] {
  return [
    judge(bench, { what: 'an absolute number', value: 9, unit: 'ms' }),
    judge(bench, { what, value, unit: '×', better }),
  ];
}

/** Each run of a benchmark takes the next of its values, and then repeats the last. */
async function guard(api: number[], liveCost: number[]) {
  const printed: string[] = [];
  const runs: string[] = [];
  const next = (values: number[]) => (values.length > 1 ? values.shift()! : values[0]!);
  const { exitCode, ratios } = await runGuard({
    names: ['api', 'live-cost'],
    baseline,
    print: text => void printed.push(text),
    run: async name => {
      runs.push(name);
      if (name === 'api') return rowsOf('API', 'GET by Koa', next(api), 'higher');
      return liveCost.length === 0 ? [] : rowsOf('live cost', 'processor by nginx', next(liveCost), 'lower');
    },
  });
  const [table, ...problems] = printed;
  return { exitCode, ratios, runs, table, problems };
}

test('ratios that are at most 15 % worse, or better, pass', async () => {
  const { exitCode, problems, runs, table } = await guard([0.35], [1.7]);
  expect([exitCode, problems, runs]).toEqual([0, [], ['api', 'live-cost']]);
  expect(table).toContain('| api | GET by Koa | 0.35 | higher is better |');
  expect((await guard([0.9], [0.3])).exitCode).toBe(0);
});

test('a ratio that is more than 15 % worse fails, twice, and is named', async () => {
  const slower = await guard([0.3], [1.5]);
  expect([slower.exitCode, slower.runs]).toEqual([1, ['api', 'api', 'live-cost']]);
  expect(slower.problems).toEqual(['api: GET by Koa is 0.3, 33 % worse than 0.4.']);
  const dearer = await guard([0.4], [2.1, 1.8]);
  expect([dearer.exitCode, dearer.problems]).toEqual([
    1,
    ['live-cost: processor by nginx is 1.8, 20 % worse than 1.5.'],
  ]);
});

test('the better one of two runs counts', async () => {
  const { exitCode, ratios } = await guard([0.2, 0.39], [1.5]);
  expect([exitCode, ratios[0]!.value]).toEqual([0, 0.39]);
});

test('a ratio that was not measured fails', async () => {
  const { exitCode, problems } = await guard([0.4], []);
  expect([exitCode, problems]).toEqual([1, ['live-cost: processor by nginx was not measured.']]);
});

test('the page of benchmarks shows the ratios that the guard compares with', async () => {
  const read = (name: string) => readFile(join(projectRoot, 'docs', name), 'utf8');
  const saved = JSON.parse(await read('benchmarks.json')) as Baseline;
  expect(ratioTable.exec(await read('benchmarks.md'))?.[0]).toBe(formatBaseline(saved));
});
