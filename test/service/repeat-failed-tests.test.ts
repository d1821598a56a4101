import { execFile } from 'node:child_process';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { testTempDir } from '../support/temp-dir.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Fails the first time only, in the way of `statement`. */
const once = (statement: string) => `
import { existsSync, writeFileSync } from 'node:fs';
import { test } from 'vitest';
test('works', async () => {
  const isFirst = !existsSync(import.meta.filename + '.ran');
  writeFileSync(import.meta.filename + '.ran', '');
  if (isFirst) { ${statement} }
});`;

/** Test files of a project that fails in four ways. */
const files = {
  'passes.test.ts': `import { test } from 'vitest'; test('works', () => {}); test.skip('waits', () => {});`,
  'throws.test.ts': once(`throw new Error('busy');`),
  'crashes.test.ts': once(`process.kill(process.pid, 'SIGKILL'); await new Promise(() => {});`),
  'rejects.test.ts': once(`void Promise.reject(new Error('unhandled')); await new Promise(setImmediate);`),
  'fails.test.ts': `import { test } from 'vitest'; test('works', () => { throw new Error('broken'); });`,
};

/** Runs a command in `folder` and gives its exit code. */
function run(folder: string, command: string, ...args: readonly string[]): Promise<number> {
  const { VITEST: _, NODE_OPTIONS: _options, ...env } = process.env;
  return new Promise(resolve => {
    execFile(
      command,
      args,
      { cwd: folder, env: { ...env, MILLRACE_TEST_REPORT: join(folder, 'report') } },
      error => resolve(typeof error?.code === 'number' ? error.code : 0),
    );
  });
}

test('failed and crashed test files are repeated, and those that then pass are flaky', async () => {
  const folder = await testTempDir();
  for (const name of ['node_modules', 'scripts']) await symlink(join(root, name), join(folder, name));
  await writeFile(join(folder, 'package.json'), '{"type":"module","scripts":{"test:all":"vitest run"}}');
  const config = { test: { reporters: ['./scripts/test-file-reporter.ts'] } };
  await writeFile(join(folder, 'vitest.config.js'), `export default ${JSON.stringify(config)}`);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);

  const code = await run(folder, process.execPath, 'node_modules/vitest/vitest.mjs', 'run');
  expect(code).toBe(1);
  await run(folder, process.execPath, 'scripts/repeat-failed-tests.ts', 'report', String(code), 'result');

  expect((await readFile(join(folder, 'result'), 'utf8')).trimEnd().split('\n').sort()).toEqual([
    '4 1 3',
    'failed: fails.test.ts (works: broken)',
    'flaky: crashes.test.ts (the file did not end)',
    'flaky: rejects.test.ts (unhandled)',
    'flaky: throws.test.ts (works: busy)',
    'tests: 4 passed, 1 failed, 1 skipped',
  ]);
});
