import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { waitUntil } from '../support/wait-until.ts';

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

/** Copies the server's sources, which a test may then change. */
async function installation(): Promise<string> {
  const folder = await newFolder();
  const browserCode = join(root, 'src/web') + sep;
  await cp(join(root, 'src'), join(folder, 'src'), {
    recursive: true,
    filter: path => !path.startsWith(browserCode),
  });
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

const build = (folder: string) => run(process.execPath, [join(folder, 'src/cli/build-server.ts')]);

const builds = (folder: string) =>
  existsSync(join(folder, 'dist/server'))
    ? readdirSync(join(folder, 'dist/server')).filter(name => /^[0-9a-f]{16}$/.test(name))
    : [];

/** Prints the usage, and returns the modules of the installation that were loaded for it. */
async function usage(folder: string): Promise<{ text: string; loaded: string[] }> {
  const notes = join(await newFolder(), 'notes');
  const { stdout } = await run(process.execPath, [join(folder, 'src/start.js'), '--help'], {
    env: {
      ...process.env,
      MILLRACE_TEST_NOTES: notes,
      NODE_OPTIONS: `--import=${new URL('../support/note-modules.ts', import.meta.url)}`,
    },
  });
  const prefix = `load ${pathToFileURL(folder).href}/`;
  const lines = readFileSync(notes, 'utf8').split('\n');
  return {
    text: stdout,
    loaded: lines.filter(line => line.startsWith(prefix)).map(line => line.slice(prefix.length)),
  };
}

test.concurrent('the server starts from its bundle, and from its sources once they have changed', async () => {
  const folder = await installation();
  await build(folder);
  const [first] = builds(folder);
  const bundled = await usage(folder);
  expect(bundled.text).toContain('Usage: npm start');
  expect(bundled.loaded).toContain(`dist/server/${first}/main.js`);
  expect(bundled.loaded.filter(path => path.endsWith('.ts'))).toEqual([]);

  const source = join(folder, 'src/cli/server-command-line.ts');
  writeFileSync(
    source,
    readFileSync(source, 'utf8').replace('Usage: npm start', 'Usage, changed: npm start'),
  );
  const changed = await usage(folder);
  expect(changed.text).toContain('Usage, changed: npm start');
  expect(changed.loaded).toContain('src/main.ts');

  // The next start builds the next bundle.
  await waitUntil(() => builds(folder).length === 2);
  const rebuilt = await usage(folder);
  expect(rebuilt.text).toContain('Usage, changed: npm start');
  expect(rebuilt.loaded.filter(path => path.endsWith('.ts'))).toEqual([]);
});

test.concurrent('a build that was cut off is not used', async () => {
  const folder = await installation();
  await build(folder);
  const [first] = builds(folder);
  const main = join(folder, `dist/server/${first}/main.js`);
  await mkdir(join(folder, 'dist/server', `${first}.123`));
  await cp(main, join(folder, 'dist/server', `${first}.123`, 'main.js'));
  await removeDir(join(folder, 'dist/server', first!));
  expect((await usage(folder)).loaded).toContain('src/main.ts');
  await waitUntil(() => builds(folder).length === 1);
});

test.concurrent('where no bundle can be stored, the server starts from its sources', async () => {
  const folder = await installation();
  writeFileSync(join(folder, 'dist'), '');
  expect((await usage(folder)).text).toContain('Usage: npm start');
  await expect(build(folder)).rejects.toThrow('dist');
  expect((await usage(folder)).loaded).toContain('src/main.ts');
});

test.concurrent('simultaneous builds leave one complete bundle', async () => {
  const folder = await installation();
  await Promise.all(Array.from({ length: 3 }, () => build(folder)));
  expect(readdirSync(join(folder, 'dist/server'))).toHaveLength(1);
  expect((await usage(folder)).loaded).toContain(`dist/server/${builds(folder)[0]}/main.js`);
});
