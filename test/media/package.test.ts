import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServerProcess } from '../../scripts/server-process.ts';
import { serverFfmpeg } from '../support/ffmpeg.ts';
import { playsLive, playsVideo } from '../support/plays.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));

let temp: string;
/** Folder of the project that the package is installed in. */
let folder: string;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  temp = await makeTempDir();
  folder = join(temp, 'project');
  env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: temp,
    XDG_DATA_HOME: '',
    // npm's own of the run of the tests.
    npm_lifecycle_event: '',
  };
  await run('npm', ['pack', '--silent', '--pack-destination', temp], { cwd: root });
  const tarball = readdirSync(temp).find(name => name.endsWith('.tgz'))!;
  const omitted = serverFfmpeg.source === 'path' ? ['--omit=optional'] : [];
  await run(
    'npm',
    [
      'install',
      '--silent',
      '--no-audit',
      '--no-fund',
      '--prefer-offline',
      '--prefix',
      folder,
      ...omitted,
      join(temp, tarball),
    ],
    {
      cwd: root,
    },
  );
});
afterAll(() => removeDir(temp));

const program = () => join(folder, 'node_modules/.bin/millrace');

/** Runs a command of the package in the project's folder. */
async function millrace(args: readonly string[], variables: Record<string, string> = {}) {
  const { promise, resolve } = Promise.withResolvers<{ code: unknown; stdout: string; stderr: string }>();
  execFile(program(), args, { cwd: folder, env: { ...env, ...variables } }, (error, stdout, stderr) =>
    resolve({ code: error?.code ?? 0, stdout, stderr }),
  );
  return await promise;
}

/** Runs the program with each of `lines` in one process: to start one for each would take most of the time of these tests. */
const runsLines = `
  import { writeSync } from 'node:fs';
  const [node, main, lines] = process.argv;
  const results = [];
  for (const [index, line] of JSON.parse(lines).entries()) {
    process.argv = [node, main, ...line];
    const result = { stdout: '', stderr: '' };
    for (const name of Object.keys(result)) process[name].write = text => (result[name] += text) !== '';
    process.exitCode = 0;
    await import(main + '?' + index);
    results.push({ code: process.exitCode, ...result });
  }
  process.exitCode = 0;
  writeSync(1, JSON.stringify(results));
`;

async function millraceWithEach(lines: readonly (readonly string[])[]) {
  const dist = join(folder, 'node_modules/millrace/dist');
  const [main] = readdirSync(dist).map(name => join(dist, name, 'main.js'));
  const args = ['--input-type=module', '--eval', runsLines, main!, JSON.stringify(lines)];
  const { stdout } = await run(process.execPath, args, { cwd: folder, env });
  return JSON.parse(stdout) as Awaited<ReturnType<typeof millrace>>[];
}

test('has only what runs', async () => {
  const installed = join(folder, 'node_modules/millrace');
  expect(readdirSync(installed).sort()).toEqual([
    'LICENSE',
    'README.md',
    'bin',
    'config',
    'dist',
    'package.json',
  ]);
  const files = readdirSync(installed, { encoding: 'utf8', recursive: true });
  expect(files.filter(path => /\.tsx?$/.test(path))).toEqual([]);
  for (const name of ['esbuild', 'preact', 'hls.js', 'vitest', 'markdown-it', 'shiki']) {
    expect(existsSync(join(folder, 'node_modules', name)), name).toBe(false);
  }
});

test('publishes, plays, takes a video and backs up, and leaves the working directory alone', async () => {
  const before = readdirSync(folder);
  const dataDir = join(temp, '.local/share/millrace');
  const server = await startServerProcess({
    dataDir,
    program: program(),
    cwd: folder,
    env: { HOME: temp, XDG_DATA_HOME: '', MILLRACE_DATA_DIR: '' },
  });
  try {
    expect(server.lines.join('\n')).toContain(`Data folder         ${dataDir}\n`);
    await playsLive(server);
    await playsVideo(server, temp);
    for (const page of ['/dashboard', '/docs', '/docs/start', '/docs/reference/videos', '/docs/start.md'])
      expect((await fetch(server.baseUrl + page)).status).toBe(200);

    const backup = join(temp, 'millrace.tar');
    expect(await millrace(['backup', backup])).toMatchObject({ code: 0 });
    expect((await millrace(['restore', backup, '--check'])).stdout).toContain('is intact');
    expect((await millrace(['account', 'list'])).stdout).toContain('admin@localhost');
  } finally {
    await server.stop();
  }
  const restored = join(temp, 'restored');
  expect(await millrace(['restore', join(temp, 'millrace.tar'), '--data-dir', restored])).toMatchObject({
    code: 0,
  });
  expect(readdirSync(restored)).toContain('millrace.db');
  expect(readdirSync(folder)).toEqual(before);
});

/** Returns the files of the project and what is beside it, with their permissions. */
const modes = () =>
  [temp, folder].flatMap(path => readdirSync(path).map(name => [name, statSync(join(path, name)).mode]));

test.for<[problem: string, args: string[], variables: Record<string, string>, code: number, text: RegExp]>([
  ['an unknown command', ['strat'], {}, 2, /^unknown command strat\. See "millrace --help"\.\n$/],
  [
    'a user without a home folder',
    ['start'],
    { HOME: '' },
    2,
    /^default of dataDir: this user has no home folder\. Set --data-dir=PATH or MILLRACE_DATA_DIR\.\n$/,
  ],
  ['an unknown one-letter flag', ['-p'], {}, 2, /^unknown option -p\. See "millrace start --help"\.\n$/],
  ['an invalid value', ['start', '--http.port=http'], {}, 2, /^--http\.port: expected [^\n]*\n$/],
  [
    'a missing value',
    ['start', '--http.port'],
    {},
    2,
    /^--http\.port: a value is missing\. See "millrace start --help"\.\n$/,
  ],
  [
    'an argument too many',
    ['start', 'now'],
    {},
    2,
    /^unknown argument now\. See "millrace start --help"\.\n$/,
  ],
  [
    'a command without its argument',
    ['backup'],
    {},
    2,
    /^FILE is missing\. See "millrace backup --help"\.\n$/,
  ],
  ['a data folder that is a file', ['--data-dir', './package.json'], {}, 1, /^[^\n]*package\.json[^\n]*\n$/],
  [
    'an older Node',
    ['start'],
    { NODE_OPTIONS: '--require=./old.cjs' },
    1,
    /^Millrace needs Node 24\.9 or newer[^\n]*\n$/,
  ],
])('refuses %s', async ([_problem, args, variables, code, text]) => {
  const old = join(folder, 'old.cjs');
  writeFileSync(old, "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } });");
  const before = modes();
  const ended = await millrace(args, variables);
  expect(ended).toMatchObject({ code, stderr: expect.stringMatching(text) });
  expect(modes()).toEqual(before);
});

/** Commands, each with what it needs. */
const commandLines: readonly [name: string, ...args: string[]][] = [
  ['start'],
  ['account', 'list'],
  ['backup', '-'],
  ['database', 'copy'],
  ['storage', 'copy'],
  ['drain'],
];

test.for<[problem: string, flag: string, text: (name: string) => RegExp]>([
  [
    'an unknown flag',
    '--http.prot=80',
    name => new RegExp(`^unknown option --http\\.prot\\. See "millrace ${name} --help"\\.\\n$`),
  ],
  ['an invalid setting', '--http.port=http', () => /^--http\.port: expected [^\n]*\n$/],
])('refuses %s with each command', async ([, flag, text]) => {
  const before = modes();
  const ended = await millraceWithEach(commandLines.map(line => [...line, flag]));
  expect(ended).toEqual(
    commandLines.map(([name]) => ({
      code: 2,
      stdout: expect.any(String),
      stderr: expect.stringMatching(text(name)),
    })),
  );
  expect(modes()).toEqual(before);
});

test('describes each command', async () => {
  const { stdout } = await millrace(['--help']);
  expect((await millrace(['-h'])).stdout).toBe(stdout);
  const names = [...stdout.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name!);
  expect(names).toEqual([
    'start',
    'account',
    'backup',
    'restore',
    'database',
    'storage',
    'drain',
    'doctor',
    'version',
  ]);
  const usages = await millraceWithEach(names.map(name => [name, '--help']));
  expect(usages).toEqual(
    names.map(name => ({ code: 0, stdout: expect.stringContaining(`Usage: millrace ${name}`), stderr: '' })),
  );
  expect(await millraceWithEach(names.map(name => [name, '-h']))).toEqual(usages);
  const about = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  expect((await millrace(['version'])).stdout).toBe(`${about.version}\n`);
});
