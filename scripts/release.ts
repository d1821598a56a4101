/**
 * Makes a release of HEAD: `npm run release -- [--out FOLDER]` writes the npm package, archives with Node for Linux on x64 and arm64,
 * Debian packages, their checksums and a bill of materials into a new folder, and prints what to publish where.
 *
 * It works in a clean clone of its own. Two runs for one commit give the same bytes. Needs git, npm, GNU tar, gzip and nfpm.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from './project-files.ts';
import { findNfpm } from './release/find-nfpm.ts';

// Files that others can read, whatever the user's habit.
process.umask(0o022);

const { values } = parseArgs({ options: { out: { type: 'string' } } });
const out = resolve(values.out ?? join(projectRoot, 'tmp/release'));
const nfpm = findNfpm();
const problem = findProblem();
if (problem !== undefined) {
  process.stderr.write(`${problem}\n`);
  process.exitCode = 1;
} else {
  const work = mkdtempSync(join(realpathSync(tmpdir()), 'millrace-release-'));
  process.on('exit', () => rmSync(work, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));
  makeIn(work);
}

function findProblem(): string | undefined {
  if (!existsSync(join(projectRoot, '.git'))) return 'A release is made in a clone, and this is none.';
  const changes = git('status', '--porcelain');
  if (changes !== '')
    return `A release has what is committed, but these files are not: commit or remove them first.\n${changes}`;
  if (existsSync(out)) return `${out} exists: remove it first, or choose another folder with --out.`;
  if (nfpm === undefined)
    return 'nfpm makes the Debian packages, and is not installed: run `go install github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0`.';
  return undefined;
}

function makeIn(work: string): void {
  const clone = join(work, 'clone');
  const commit = git('rev-parse', 'HEAD');
  git('clone', '--quiet', '--no-checkout', projectRoot, clone);
  git('-C', clone, 'checkout', '--quiet', '--detach', commit);
  const environment = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    SOURCE_DATE_EPOCH: git('show', '--no-patch', '--format=%ct', commit),
    TZ: 'UTC',
    LC_ALL: 'C',
  };
  const options = { cwd: clone, env: environment, stdio: 'inherit' } as const;
  execFileSync('npm', ['ci', '--ignore-scripts', '--prefer-offline'], options);
  const script = join(clone, 'scripts/release/make-files.ts');
  execFileSync(
    process.execPath,
    [script, '--work', join(work, 'files'), '--out', out, '--nfpm', nfpm!],
    options,
  );
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: projectRoot, encoding: 'utf8' }).trim();
}
