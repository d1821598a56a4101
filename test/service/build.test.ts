import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { cp, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { canRunUnprivileged, unprivilegedUid } from '../support/unprivileged-user.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const folders: string[] = [];

afterAll(async () => {
  for (const folder of folders) await removeDir(folder);
});

async function newFolder(): Promise<string> {
  const folder = await makeTempDir();
  folders.push(folder);
  return folder;
}

/** Copies the scripts that build, with a program of one file, which a test may then change. */
async function clone(): Promise<string> {
  const folder = await newFolder();
  for (const path of ['scripts', 'bin', 'config', 'package.json', 'package-lock.json']) {
    await cp(join(root, path), join(folder, path), { recursive: true });
  }
  mkdirSync(join(folder, 'src'));
  mkdirSync(join(folder, 'docs'));
  writeFileSync(join(folder, 'src/main.ts'), `console.log('started' satisfies string);\n`);
  replaceBrowserCode(folder);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Copies all that is built. */
async function wholeClone(): Promise<string> {
  const folder = await clone();
  for (const path of ['src', 'scripts', 'docs']) {
    await cp(join(root, path), join(folder, path), { recursive: true });
  }
  // Half of a build is to render the guides.
  writeFileSync(join(folder, 'docs/contents.json'), '[]');
  return folder;
}

/** @param before runs while a build bundles the browser code */
function replaceBrowserCode(folder: string, before = ''): void {
  writeFileSync(
    join(folder, 'scripts/build/browser-code.ts'),
    `import { appendFileSync } from 'node:fs';
     export async function buildBrowserCode() {
       ${before}
       return new Map([['manifest.json', Buffer.from('{}')]]);
     }`,
  );
}

const build = (folder: string, ...options: string[]) =>
  run(process.execPath, [...options, join(folder, 'scripts/build.ts')]);

/** Ends a build where it would first call a function of `node:fs/promises`. */
const killAt = (name: string) => `
  import fs from 'node:fs/promises';
  import { syncBuiltinESMExports } from 'node:module';
  fs.${name} = () => process.kill(process.pid, 'SIGKILL');
  syncBuiltinESMExports();`;

const builds = (folder: string) =>
  readdirSync(join(folder, 'dist')).filter(name => /^[0-9a-f]{16}$/.test(name));

/** Runs a command, and returns the modules of the clone that were loaded for it. */
async function millrace(folder: string, args: readonly string[], { uid }: { uid?: number } = {}) {
  const notes = join(await newFolder(), 'notes');
  writeFileSync(notes, '', { mode: 0o666 });
  if (uid !== undefined) await run('chmod', ['-R', 'a+rwX', dirname(notes)]);
  const { stdout, stderr } = await run(join(folder, 'bin/millrace'), args, {
    cwd: folder,
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      MILLRACE_TEST_NOTES: notes,
      // The folder of temporary files of the tests may be closed to other users.
      TMPDIR: dirname(notes),
      NODE_OPTIONS: `--import=${new URL('../support/note-modules.ts', import.meta.url)}`,
    },
    ...(uid === undefined ? {} : { uid }),
  });
  const prefix = `load ${pathToFileURL(folder).href}/`;
  const loaded = readFileSync(notes, 'utf8')
    .split('\n')
    .filter(line => line.startsWith(prefix))
    .map(line => line.slice(prefix.length));
  return { stdout, stderr, loaded };
}

test.concurrent('what runs is built, and built again once its sources have changed', async () => {
  const folder = await wholeClone();
  const first = await millrace(folder, ['start', '--help']);
  expect(first.stderr).toBe('Millrace is being built, which takes a few seconds.\n');
  expect(first.stdout).toContain('Usage: npm start');
  expect(first.loaded.filter(path => path.endsWith('.ts'))).toEqual([]);

  const again = await millrace(folder, ['account', '--help']);
  expect(again.stderr).toBe('');
  expect(again.stdout).toContain('Usage: npm run account');
  expect(again.loaded).toContain(`dist/${builds(folder)[0]}/main.js`);

  replaceBrowserCode(folder);
  const source = join(folder, 'src/cli/server-command-line.ts');
  writeFileSync(source, readFileSync(source, 'utf8').replace('Usage: ', 'Usage, changed: '));
  const changed = await millrace(folder, ['start', '--help']);
  expect(changed.stdout).toContain('Usage, changed: npm start');
  expect(changed.loaded.filter(path => path.endsWith('.ts'))).toEqual([]);
  expect(builds(folder)).toHaveLength(2);
});

test.concurrent('a build that is killed is not used, and simultaneous builds leave one', async () => {
  const folder = await clone();
  for (const moment of ['open', 'rename']) {
    const killed = build(folder, `--import=data:text/javascript,${encodeURIComponent(killAt(moment))}`);
    await expect(killed).rejects.toMatchObject({ signal: 'SIGKILL' });
  }
  expect(builds(folder)).toEqual([]);
  expect(readdirSync(join(folder, 'dist'))).toHaveLength(2);

  await Promise.all([build(folder), millrace(folder, ['version'])]);
  expect(builds(folder)).toHaveLength(1);
  expect((await millrace(folder, ['version'])).stderr).toBe('');
  // The rest of the killed one is not in a package.
  await run(process.execPath, [join(folder, 'scripts/build.ts'), '--only']);
  expect(readdirSync(join(folder, 'dist'))).toEqual(builds(folder));
});

test.concurrent('a package starts beside what an upgrade left of another build, and says that it is not complete', async () => {
  const folder = await newFolder();
  await cp(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  const left = join(folder, 'dist/0000000000000000/code');
  mkdirSync(left, { recursive: true });
  await expect(millrace(folder, ['version'])).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('install Millrace again'),
  });
  const main = join(folder, 'dist/1111111111111111/main.js');
  mkdirSync(dirname(main));
  writeFileSync(main, `console.log('started');`);
  expect((await millrace(folder, ['version'])).stdout).toBe('started\n');
});

test
  .skipIf(!canRunUnprivileged)
  .concurrent('a build in which another user stored compiled code keeps nobody from building', async () => {
    const folder = await clone();
    await run('chown', ['-R', `${unprivilegedUid}`, folder]);
    await run('chmod', ['a+rX', folder]);
    for (const [index, name] of ['0'.repeat(16), '1'.repeat(16), '2'.repeat(16)].entries()) {
      const code = join(folder, 'dist', name, 'code');
      mkdirSync(code, { recursive: true });
      writeFileSync(join(code, 'compiled'), '');
      utimesSync(join(folder, 'dist', name), index, index);
    }
    await run('chown', [`${unprivilegedUid}`, join(folder, 'dist')]);
    const built = await millrace(folder, ['version'], { uid: unprivilegedUid });
    expect(built.loaded.filter(path => path.endsWith('.ts'))).toEqual([]);
  });

test.concurrent('a clone without its packages says what to do', async () => {
  const folder = await clone();
  await rm(join(folder, 'node_modules'));
  await expect(millrace(folder, ['version'])).rejects.toMatchObject({
    code: 1,
    stderr:
      'Millrace is not built, and the packages that build it are not installed: run `npm ci --include=dev`.\n',
  });
});

test.concurrent('a build that mixes old and new sources is not stored', async () => {
  const folder = await clone();
  const source = join(folder, 'src/main.ts');
  replaceBrowserCode(folder, `appendFileSync(${JSON.stringify(source)}, '\\n');`);
  await expect(build(folder)).rejects.toThrow('a source changed during the build');
  expect(readdirSync(join(folder, 'dist'))).toEqual([]);
});

test
  .skipIf(!canRunUnprivileged)
  .concurrent('a clone that cannot be written to runs, with a build or from its sources', async () => {
    const folder = await clone();
    const uid = unprivilegedUid;
    await run('chmod', ['a+rX', folder]);
    const unbuilt = await millrace(folder, ['version'], { uid });
    expect(unbuilt.loaded).toContain('src/main.ts');
    await build(folder);
    const built = await millrace(folder, ['version'], { uid });
    expect([built.stdout, built.stderr]).toEqual([unbuilt.stdout, '']);
    expect(built.loaded.filter(path => path.endsWith('.ts'))).toEqual([]);
  });
