import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../../../scripts/project-files.ts';

const sources = [
  'src/docs',
  'src/http',
  'src/resources',
  'src/shared',
  'src/events',
  'src/operations',
  'src/delivery',
  'src/app',
  'test/support/answers',
  'package-lock.json',
];
const keptVersions = 4;

/** Makes the rules that `check-answers.ts` reads, once for all workers, and anew only when the sources have changed. */
export default async function prepareAnswerChecks(): Promise<void> {
  if (process.env.MILLRACE_TEST_ANSWER_RULES !== undefined) return;
  const cache = join(projectRoot, 'node_modules/.cache/millrace-answers');
  const folder = join(cache, stateOfSources());
  if (!existsSync(folder)) {
    const { makeAnswerRules } = await import('./answer-rules.ts');
    const { operations, validators } = await makeAnswerRules();
    const partial = `${folder}.${process.pid}`;
    mkdirSync(partial, { recursive: true });
    writeFileSync(join(partial, 'operations.json'), JSON.stringify(operations));
    writeFileSync(join(partial, 'validators.cjs'), validators);
    try {
      renameSync(partial, folder);
    } catch {
      // Another process was faster.
      rmSync(partial, { recursive: true, force: true });
    }
    removeOldest(cache);
  }
  process.env.MILLRACE_TEST_ANSWER_RULES = folder;
}

/** Names the state of all files that the document is made from. */
function stateOfSources(): string {
  const hash = createHash('sha256');
  for (const source of sources) {
    const path = join(projectRoot, source);
    const isFolder = statSync(path).isDirectory();
    const files = isFolder ? readdirSync(path, { recursive: true, encoding: 'utf8' }).sort() : [''];
    for (const file of files) {
      const { mtimeMs, size } = statSync(join(path, file));
      hash.update(`${source}/${file} ${mtimeMs} ${size}\n`);
    }
  }
  return hash.digest('hex').slice(0, 16);
}

function removeOldest(cache: string): void {
  const folders = readdirSync(cache)
    .map(name => join(cache, name))
    .map(path => ({ path, mtimeMs: statSync(path).mtimeMs }))
    .sort((a, b) => b.mtimeMs - a.mtimeMs);
  for (const { path } of folders.slice(keptVersions)) rmSync(path, { recursive: true, force: true });
}
