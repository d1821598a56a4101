import { spawnSync } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeEach, describe, expect, it } from 'vitest';
import { testTempDir } from '../support/temp-dir.ts';

const script = fileURLToPath(new URL('../../scripts/changed-since-pass', import.meta.url));

const identity = { NAME: 'A tester', EMAIL: 'tester@example.org' };
const env = {
  ...process.env,
  ...Object.fromEntries(
    Object.entries(identity).flatMap(([key, value]) => [
      [`GIT_AUTHOR_${key}`, value],
      [`GIT_COMMITTER_${key}`, value],
    ]),
  ),
  // Ignores personal settings.
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
};

function git(folder: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: folder, env, encoding: 'utf8' });
  expect([args, status, stderr]).toEqual([args, 0, expect.anything()]);
  return stdout.trim();
}

function commit(folder: string, file: string, text: string): void {
  writeFileSync(join(folder, file), text);
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message', `${file}: change it`);
}

const question = ['container', 'Dockerfile', 'package-lock.json'] as const;

function ask(folder: string): { readonly isNeeded: boolean; readonly text: string } {
  const { status, stdout, stderr } = spawnSync(script, question, { cwd: folder, env, encoding: 'utf8' });
  expect([[0, 1].includes(status!), stderr]).toEqual([true, '']);
  return { isNeeded: status === 0, text: stdout };
}

function pass(folder: string): void {
  const { status, stderr } = spawnSync(script, ['--passed', ...question], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
}

function commitPass(folder: string): void {
  pass(folder);
  git(folder, 'add', '--all');
  git(folder, 'commit', '--quiet', '--message', 'Note the pass');
}

describe('a slow check', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await testTempDir();
    git(folder, 'init', '--quiet', '--initial-branch', 'main');
    commit(folder, 'Dockerfile', 'FROM scratch');
  });

  it('runs where nothing is known of it', () => {
    expect(ask(folder)).toEqual({
      isNeeded: true,
      text: 'container runs: .ci/passed/container does not exist, which names the files that passed it.\n',
    });
  });

  it('is left out until one of its files differs from those that passed, in a fresh clone, too', async () => {
    commitPass(folder);
    commit(folder, 'README.md', 'Text');
    const clone = join(await testTempDir(), 'clone');
    git(folder, 'clone', '--quiet', folder, clone);
    for (const each of [folder, clone]) {
      expect(ask(each)).toEqual({
        isNeeded: false,
        text: 'container is left out: none of these changed since it passed: Dockerfile package-lock.json\n',
      });
    }
  });

  it('runs when a file was changed, added, made executable or removed, until that passed', () => {
    commitPass(folder);
    const needed = (file: string) => {
      expect(ask(folder)).toEqual({
        isNeeded: true,
        text: `container runs: since it passed, these changed: ${file}.\n`,
      });
      commitPass(folder);
      expect(ask(folder).isNeeded).toBe(false);
    };
    commit(folder, 'Dockerfile', 'FROM scratch\n');
    needed('Dockerfile');
    commit(folder, 'package-lock.json', '{}');
    needed('package-lock.json');
    chmodSync(join(folder, 'Dockerfile'), 0o755);
    commit(folder, 'README.md', 'Text');
    needed('Dockerfile');
    rmSync(join(folder, 'package-lock.json'));
    commit(folder, 'README.md', 'More text');
    needed('package-lock.json');
  });

  it('takes a pass that is not committed for none', () => {
    pass(folder);
    expect(ask(folder).isNeeded).toBe(true);
  });
});
