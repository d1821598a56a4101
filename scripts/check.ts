/**
 * Runs all checks of the project that need no running server, in parallel. Prints each with its duration, then the problems
 * found. Exits with 1 when a check failed.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { forbiddenWords } from './forbidden-words.ts';
import { importProblems } from './import-rules.ts';
import { commentProblems, nameProblems, spreadProblems } from './language-rules.ts';
import { lockFileProblems } from './lock-file.ts';
import {
  committedPaths,
  dependencyNames,
  projectRoot,
  readProjectFile,
  readSources,
} from './project-files.ts';

/** Returns the problems found, one line each. */
type Check = () => string[] | Promise<string[]>;

const checks: Record<string, Check> = {
  'format and lint': () => tool('@biomejs/biome/bin/biome', 'check', '--error-on-warnings', '.'),
  types: () => tool('typescript/bin/tsc', '-p', '.'),
  'types of the browser code': () => tool('typescript/bin/tsc', '-p', 'src/web'),
  imports: () => importProblems(readSources(), dependencyNames(), dependencyNames('devDependencies')),
  language: () =>
    textFiles()
      .filter(([path]) => /^(?:src|scripts|test)\/.*\.tsx?$/.test(path) && !path.includes('language-rules'))
      .flatMap(([path, text]) => [
        ...commentProblems(path, text),
        ...(path.startsWith('test/') ? [] : nameProblems(path, text)),
        ...spreadProblems(path, text),
      ]),
  words: () => textFiles().flatMap(([path, text]) => forbiddenWords(path, text)),
  'lock file': () => lockFileProblems(readProjectFile('package-lock.json')),
  'written references': () => run('scripts/write-references.ts', '--check'),
  'table of the API': () => run('scripts/write-api-coverage.ts', '--check'),
};

interface Result {
  readonly problems: readonly string[];
  readonly seconds: string;
}

const results = await Promise.all(
  Object.entries(checks).map(async ([name, check]): Promise<[string, Result]> => {
    const startedMs = performance.now();
    const problems = await attempt(check);
    return [name, { problems, seconds: ((performance.now() - startedMs) / 1000).toFixed(1) }];
  }),
);

for (const [name, { problems, seconds }] of results) {
  console.log(`${problems.length === 0 ? 'ok    ' : 'failed'} ${seconds.padStart(5)} s  ${name}`);
}
const failed = results.filter(([, { problems }]) => problems.length > 0);
for (const [name, { problems }] of failed) console.error(`\n${name}:\n${problems.join('\n')}`);
if (failed.length > 0) process.exitCode = 1;

/** Turns an error of a check into a problem, so that the other checks are reported. */
async function attempt(check: Check): Promise<string[]> {
  try {
    return await check();
  } catch (error) {
    return [String(error)];
  }
}

/** Runs a tool of `node_modules`; its output lists the problems when it fails. */
function tool(path: string, ...args: readonly string[]): Promise<string[]> {
  return run(`node_modules/${path}`, ...args);
}

function run(script: string, ...args: readonly string[]): Promise<string[]> {
  const { promise, resolve } = Promise.withResolvers<string[]>();
  execFile(
    process.execPath,
    [script, ...args],
    { cwd: projectRoot, maxBuffer: 64 * 1024 * 1024 },
    (error, stdout, stderr) => {
      if (error === null) resolve([]);
      else resolve([`${stdout}${stderr}`.trim() || error.message]);
    },
  );
  return promise;
}

function textFiles(): [path: string, text: string][] {
  return committedPaths()
    .map((path): [string, string] => [path, readFileSync(`${projectRoot}/${path}`, 'latin1')])
    .filter(([, text]) => !text.includes('\0'));
}
