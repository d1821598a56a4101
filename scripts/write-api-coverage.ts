/**
 * Writes `docs/api-coverage.md`: every endpoint of the API document, which of its answers tests have seen, and in which files.
 *
 *     MILLRACE_TEST_ANSWERS_SEEN=tmp/answers npm run test:all && node scripts/write-api-coverage.ts tmp/answers
 *
 * With `--check` it writes nothing, and ends with 1 when the page lacks an endpoint of the document, has one that is gone, or names
 * a test file that is gone.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildApiDocument, type DocumentedOperation, operationsOf } from './api-document.ts';
import { projectRoot, readProjectFile } from './project-files.ts';

const page = 'docs/api-coverage.md';
const operations = operationsOf(await buildApiDocument());

if (process.argv.includes('--check')) {
  const problems = problemsOf(readProjectFile(page));
  if (problems.length > 0) {
    console.error(`${page} is not up to date: ${problems.join('; ')}; see scripts/write-api-coverage.ts`);
    process.exitCode = 1;
  }
} else {
  const folder = process.argv[2];
  if (folder === undefined) throw new Error('name the folder with what the tests have seen, or --check');
  writeFileSync(join(projectRoot, page), pageOf(seenBy(folder)));
}

/** Test files by what they saw, such as `GET /videos 200`. */
function seenBy(folder: string): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const name of readdirSync(folder).sort()) {
    const record = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { file: string; seen: string[] };
    for (const answer of record.seen) files.set(answer, [...(files.get(answer) ?? []), record.file]);
  }
  return files;
}

function pageOf(seen: ReadonlyMap<string, string[]>): string {
  const sections = Map.groupBy(operations, ({ operation }) => operation.tags[0] ?? '');
  const tables = [...sections].map(([tag, entries]) => {
    const rows = entries.map(entry => rowOf(entry, seen));
    return `## ${tag}\n\n| endpoint | implemented | statuses seen | tested by |\n|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return `# API coverage

Written by \`scripts/write-api-coverage.ts\` from the API document and from what the tests saw; do not edit. Every answer that a test
gets is held against the document: status, headers, content type and body. Statuses in parentheses are in the document, and no test
has seen them.

${tables.join('\n')}`;
}

function rowOf(
  { method, path, operation }: { method: string; path: string; operation: DocumentedOperation },
  seen: ReadonlyMap<string, string[]>,
): string {
  const statuses = Object.keys(operation.responses).map(status => ({
    status,
    files: seen.get(`${method} ${path} ${status}`) ?? [],
  }));
  const shown = statuses.map(({ status, files }) => (files.length > 0 ? status : `(${status})`));
  const files = [...new Set(statuses.flatMap(status => status.files))].sort();
  return `| \`${method} ${path}\` | yes | ${shown.join(' ')} | ${files.map(file => file.replace('test/', '')).join(', ')} |`;
}

function problemsOf(text: string): string[] {
  const listed = new Set([...text.matchAll(/^\| `([A-Z]+ [^`]+)`/gm)].map(([, endpoint]) => endpoint));
  const documented = operations.map(({ method, path }) => `${method} ${path}`);
  const files = new Set(
    [...text.matchAll(/(?<=[ |])(?:unit|service|media|browser)\/[\w/-]+\.test\.ts/g)].map(String),
  );
  return [
    ...documented.filter(endpoint => !listed.delete(endpoint)).map(endpoint => `no row for ${endpoint}`),
    ...[...listed].map(endpoint => `a row for ${endpoint}, which is gone`),
    ...[...files].filter(file => !existsSync(join(projectRoot, 'test', file))).map(file => `${file} is gone`),
  ];
}
