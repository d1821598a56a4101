import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
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

function ask(folder: string): { readonly isNeeded: boolean; readonly text: string } {
  const args = ['container', 'Dockerfile', 'package-lock.json'];
  const { status, stdout, stderr } = spawnSync(script, args, { cwd: folder, env, encoding: 'utf8' });
  expect([[0, 1].includes(status!), stderr]).toEqual([true, '']);
  return { isNeeded: status === 0, text: stdout };
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
      text: 'container runs: no commit is known that passed it.\n',
    });
  });

  it('is left out until one of its files differs from the commit that passed', () => {
    spawnSync(script, ['--passed', 'container'], { cwd: folder, env });
    commit(folder, 'README.md', 'Text');
    expect(ask(folder).isNeeded).toBe(false);
    commit(folder, 'package-lock.json', '{}');
    const { isNeeded, text } = ask(folder);
    expect(isNeeded).toBe(true);
    expect(text).toMatch(/since [0-9a-f]{12}, which passed it, these changed: package-lock\.json\.\n$/);
    spawnSync(script, ['--passed', 'container'], { cwd: folder, env });
    expect(ask(folder).isNeeded).toBe(false);
  });

  it('is compared with the upstream branch in a fresh clone, and runs on that branch itself', async () => {
    const clone = join(await testTempDir(), 'clone');
    git(folder, 'clone', '--quiet', folder, clone);
    expect(ask(clone).isNeeded).toBe(true);
    git(clone, 'switch', '--quiet', '--create', 'feature');
    commit(clone, 'README.md', 'Text');
    const left = ask(clone);
    expect(left).toMatchObject({
      isNeeded: false,
      text: expect.stringContaining('left the upstream branch'),
    });
    commit(clone, 'Dockerfile', 'FROM scratch\n');
    expect(ask(clone).isNeeded).toBe(true);
  });
});
