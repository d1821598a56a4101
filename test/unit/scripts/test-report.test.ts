import { expect, test } from 'vitest';
import {
  argumentsOfRun,
  describeCosts,
  describeOutcome,
  type FileOutcome,
  nameOfRun,
  type RepeatedOutcome,
  type ReportLine,
  type RunOutcome,
  readReport,
  repeatFailed,
} from '../../../scripts/test-report.ts';

const limits = { maxFiles: 2, maxFileMs: 1000, maxTotalMs: 1000 };

function outcome(file: string, passed: number, ...problems: string[]): FileOutcome {
  return { file, passed, failed: problems.length, skipped: 0, problems };
}

/** The report of a run of two files, `a` with two tests and `b` with the given outcome. */
function report(b: FileOutcome | undefined, ...last: ReportLine[]): string {
  const lines: ReportLine[] = [
    { type: 'start', files: ['a', 'b'] },
    { type: 'file', outcome: outcome('a', 2) },
    ...(b === undefined ? [] : [{ type: 'file', outcome: b } as const]),
    ...last,
  ];
  return lines.map(line => JSON.stringify(line)).join('\n');
}

/** Repeats what failed; each file ends as `second` says, and fails again where that says nothing. */
async function repeated(first: RunOutcome, second: Record<string, RunOutcome> = {}) {
  const calls: string[] = [];
  const result = await repeatFailed(first, limits, async file => {
    calls.push(file);
    return second[file] ?? { files: [outcome(file, 0, 'again')], errors: [] };
  });
  return { ...result, calls };
}

function failures({ passed, failed, flaky }: RepeatedOutcome) {
  return { passed, failed, flaky: flaky.map(({ file }) => file) };
}

test('a run in which all passed is not repeated', async () => {
  const result = await repeated(readReport(report(outcome('b', 3), { type: 'end', errors: [] }), 0));
  expect(result.calls).toEqual([]);
  expect(failures(result)).toEqual({ passed: 5, failed: 0, flaky: [] });
});

test('a file that fails, then passes alone counts as passed, and is listed as flaky', async () => {
  const first = readReport(report(outcome('b', 2, 'plays'), { type: 'end', errors: [] }), 1);
  const result = await repeated(first, { b: { files: [outcome('b', 3)], errors: [] } });
  expect(result.calls).toEqual(['b']);
  expect(failures(result)).toEqual({ passed: 5, failed: 0, flaky: ['b'] });
  expect(describeOutcome(result)).toEqual(['tests: 5 passed, 0 failed, 0 skipped', 'flaky: b (plays)']);
});

test('a file that fails twice has failed', async () => {
  const first = readReport(report(outcome('b', 2, 'plays'), { type: 'end', errors: [] }), 1);
  const result = await repeated(first);
  expect(failures(result)).toEqual({ passed: 2, failed: 1, flaky: [] });
  expect(describeOutcome(result)).toEqual(['tests: 2 passed, 1 failed, 0 skipped', 'failed: b (again)']);
});

test.each<[string, string, string]>([
  [
    'with an unhandled error',
    report(outcome('b', 3), { type: 'end', errors: [{ file: 'b', message: 'x' }] }),
    'x',
  ],
  ['without an end, in a run that was killed', report(undefined), 'the file did not end'],
  [
    'whose worker crashed',
    report(undefined, { type: 'end', errors: [{ message: 'Worker exited' }] }),
    'the file did not end',
  ],
  ['whose line is cut short', report(outcome('b', 3)).slice(0, -5), 'the file did not end'],
])('a file %s has failed and is repeated', async (_, text, problem) => {
  const first = readReport(text, 1);
  expect(first.files[1]!.problems).toEqual([problem]);
  expect(failures(await repeated(first))).toMatchObject({ failed: 1 });
  const second = { b: { files: [outcome('b', 3)], errors: [] } };
  expect(failures(await repeated(first, second))).toEqual({ passed: 5, failed: 0, flaky: ['b'] });
});

test.each<[string, string, number, string]>([
  ['an error of no file', report(outcome('b', 3), { type: 'end', errors: [{ message: 'x' }] }), 1, 'x'],
  ['a run that never started', '', 1, 'no test passed'],
  [
    'a bad end',
    report(outcome('b', 3), { type: 'end', errors: [] }),
    137,
    'the run ended with 137, although all files passed',
  ],
])('%s fails the run, and nothing is repeated', async (_, text, code, error) => {
  const result = await repeated(readReport(text, code));
  expect(result).toMatchObject({ failed: 1, calls: [] });
  expect(describeOutcome(result)).toContain(`failed: ${error}`);
});

test('a repeat that ends badly does not pass', async () => {
  const first = readReport(report(outcome('b', 2, 'plays'), { type: 'end', errors: [] }), 1);
  const second = { b: { files: [outcome('b', 3)], errors: ['no end'] } };
  expect(failures(await repeated(first, second))).toEqual({ passed: 5, failed: 1, flaky: [] });
});

test('more failed files than may be repeated have failed', async () => {
  const files = ['a', 'b', 'c'].map(file => outcome(file, 1, 'plays'));
  const result = await repeated({ files, errors: [] });
  expect(result).toMatchObject({ passed: 3, failed: 3, flaky: [], calls: [] });
});

test('a file that several projects run is repeated in the one where it failed', () => {
  expect(argumentsOfRun(nameOfRun('test/a.test.ts', 'service'))).toEqual([
    '--project=!postgres*',
    '--project=!usual-leases',
    '--project=!uploads-found',
    '--project=!all-builds',
    'test/a.test.ts',
  ]);
  expect(argumentsOfRun(nameOfRun('test/a.test.ts', 'postgres'))).toEqual([
    '--project=postgres*',
    'test/a.test.ts',
  ]);
});

test('costs are listed by project, then by file, the most expensive first', () => {
  const cost = (project: string, seconds: number, cpuSeconds?: number) => ({
    cost: { project, seconds, cpuSeconds },
  });
  const lines: ReportLine[] = [
    { type: 'start', files: ['a', 'b', 'c', 'd'] },
    { type: 'file', outcome: { ...outcome('a', 1), ...cost('unit', 1.2, 0.9) } },
    { type: 'file', outcome: { ...outcome('b', 1), ...cost('media', 30, 4.6) } },
    { type: 'file', outcome: { ...outcome('c', 1), ...cost('media', 10, 12.1) } },
    { type: 'end', errors: [], seconds: 41, machineCpuSeconds: 20.4 },
  ];
  expect(describeCosts(lines.map(line => JSON.stringify(line)).join('\n'))).toEqual([
    ' CPU s  seconds',
    '     1        1  unit (1 files)',
    '    17       40  media (2 files)',
    '    12       10  c (media)',
    '     5       30  b (media)',
    '     1        1  a (unit)',
    'The run took 41 s; the machine worked 20 CPU s meanwhile.',
  ]);
});
