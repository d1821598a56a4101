/**
 * Repeats each failed test file of a run once, alone: `repeat-failed-tests.ts REPORT EXIT_CODE RESULT`, with the report that
 * `test-file-reporter.ts` wrote and the code that the run ended with. Writes to RESULT a line `PASSED FAILED FLAKY`, the
 * numbers of tests and of flaky files, then lines for people.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { argumentsOfRun, describeOutcome, type RunOutcome, readReport, repeatFailed } from './test-report.ts';

/** The limits keep `.ci/run` within 90 minutes, and need more than the slowest file takes alone on a busy machine. */
const limits = { maxFiles: 10, maxFileMs: 600_000, maxTotalMs: 1_200_000 };

const [reportPath = '', exitCode = '', resultPath = ''] = process.argv.slice(2);

const first = readReport(await readOrEmpty(reportPath), Number(exitCode));
const outcome = await repeatFailed(first, limits, repeat);
const { passed, failed, flaky } = outcome;
await writeFile(
  resultPath,
  [`${passed} ${failed} ${flaky.length}`, ...describeOutcome(outcome), ''].join('\n'),
);

async function repeat(file: string, timeoutMs: number): Promise<RunOutcome> {
  console.log(`== once more, alone: ${file}`);
  const path = `${reportPath}-${file.replaceAll(/[/ ]/g, '-')}`;
  const seconds = String(Math.ceil(timeoutMs / 1000));
  const child = spawn(
    'timeout',
    ['--kill-after=10', seconds, 'npm', 'run', 'test:all', '--', ...argumentsOfRun(file)],
    {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, MILLRACE_TEST_REPORT: path },
    },
  );
  // `timeout` has a process group of its own.
  const end = () => {
    child.kill();
    process.exit(1);
  };
  process.once('SIGTERM', end);
  const [code] = (await once(child, 'exit')) as [number | null];
  process.off('SIGTERM', end);
  return readReport(await readOrEmpty(path), code ?? 1);
}

/** A run that never started has no report. */
function readOrEmpty(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
