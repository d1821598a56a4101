import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { startServerProcess } from '../../scripts/server-process.ts';
import { bootstrapAccount } from '../../src/resources/identity/accounts/bootstrap-account.ts';
import { unseenSecretsFile } from '../../src/resources/identity/accounts/secrets-file.ts';
import { createLogger } from '../../src/shared/logger.ts';
import { ffmpegPath } from '../support/ffmpeg.ts';
import { makeSelfSigned } from '../support/self-signed.ts';
import { startServer } from '../support/start-server.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { openTestDatabase } from '../support/test-database.ts';

// Hooks of a test's own cannot be told apart while several tests run at once.
const leftovers: (() => unknown)[] = [];

afterAll(async () => {
  for (const remove of leftovers) await remove();
});

async function newFolder(): Promise<string> {
  const folder = await makeTempDir();
  leftovers.push(() => removeDir(folder));
  return folder;
}

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs the server until it ends by itself, which all these are to do; `shell` is run by the shell that starts it. */
async function runToEnd(env: Record<string, string>, args: readonly string[] = [], shell = ':') {
  const command = [process.execPath, join(root, 'bin/millrace.cjs'), 'start', ...args];
  const child = spawn('sh', ['-c', `${shell}; exec "$0" "$@"`, ...command], {
    cwd: root,
    env: {
      ...process.env,
      MILLRACE_HOST: '127.0.0.1',
      MILLRACE_HTTP_PORT: '0',
      MILLRACE_RTMP_PORT: '0',
      MILLRACE_WEBRTC_PORT: '0',
      MILLRACE_SRT_PORT: '0',
      MILLRACE_DATA_DIR: await newFolder(),
      MILLRACE_LOG_LEVEL: 'error',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  leftovers.push(() => child.kill('SIGKILL'));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', text => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', text => {
    stderr += text;
  });
  // `close` comes when the pipes are closed too: a child left behind would hold them open.
  const { promise: code, resolve } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  return { code: await code, stdout, lines: stderr.split('\n').filter(line => line !== '') };
}

/** A port that something else listens on. */
async function takenPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  leftovers.push(() => server.close());
  return (server.address() as { port: number }).port;
}

async function fileWith(content: string): Promise<string> {
  const path = join(await newFolder(), 'file');
  writeFileSync(path, content);
  return path;
}

const refusals: readonly (readonly [
  problem: string,
  makeEnv: () => Promise<Record<string, string>>,
  line: RegExp,
  code?: number,
])[] = [
  [
    'the HTTP port is taken',
    async () => ({ MILLRACE_HTTP_PORT: String(await takenPort()) }),
    /^.*HTTP port \d+ is already in use.*$/,
  ],
  [
    'the RTMP port is taken',
    async () => ({ MILLRACE_RTMP_PORT: String(await takenPort()) }),
    /^.*RTMP port \d+ is already in use on \S+\. Stop the program that uses it, or set another port\.$/,
  ],
  [
    'the data folder is a file',
    async () => ({ MILLRACE_DATA_DIR: await fileWith('not a folder') }),
    /^The data folder .* is not writable: .+$/,
  ],
  [
    'the data folder cannot be made',
    async () => ({ MILLRACE_DATA_DIR: join(await fileWith('x'), 'below') }),
    /^The data folder .* is not writable: .+$/,
  ],
  [
    'the data folder is in /proc, which takes none',
    async () => ({ MILLRACE_DATA_DIR: '/proc/millrace' }),
    /^The data folder \/proc\/millrace is not writable: .+$/,
  ],
  [
    'the database is none',
    async () => {
      const folder = await newFolder();
      writeFileSync(
        join(folder, 'millrace.db'),
        'this is no database, but long enough to be looked at'.repeat(100),
      );
      return { MILLRACE_DATA_DIR: folder };
    },
    /^The database .* cannot be opened: .+$/,
  ],
  [
    'the URL of the database is none',
    async () => ({ MILLRACE_DATABASE_URL: 'mysql://millrace:a-password@db/millrace' }),
    /^MILLRACE_DATABASE_URL: expected a URL such as postgres:(?!.*a-password).+$/,
    2,
  ],
  [
    'the name of PostgreSQL does not resolve',
    async () => ({ MILLRACE_DATABASE_URL: 'postgres://millrace:a-password@nowhere.invalid/millrace' }),
    /^The PostgreSQL database postgres:\/\/millrace@nowhere\.invalid\/millrace cannot be used: .*nowhere\.invalid\. Check .+$/,
  ],
  [
    'the name to listen on does not resolve',
    async () => ({ MILLRACE_HOST: 'nowhere.invalid' }),
    /^HTTP port 0 cannot be opened: nowhere\.invalid is not an address of this machine\.$/,
  ],
  [
    'PostgreSQL is not there',
    async () => ({ MILLRACE_DATABASE_URL: 'postgres://millrace:a-password@127.0.0.1:1/millrace' }),
    /^The PostgreSQL database postgres:\/\/millrace@127\.0\.0\.1:1\/millrace cannot be used: .*ECONNREFUSED.*\. Check that PostgreSQL is running, and the address in MILLRACE_DATABASE_URL .+$/,
  ],
  [
    'the URL of the S3 storage is not valid',
    async () => ({ MILLRACE_STORAGE_URL: 's3://key:a/secret@bucket' }),
    /^MILLRACE_STORAGE_URL: expected a URL such as s3:(?!.*a\/secret).+$/,
    2,
  ],
  [
    'the S3 storage is not there',
    async () => ({ MILLRACE_STORAGE_URL: 's3://key:a-secret@bucket/?endpoint=http://127.0.0.1:1' }),
    /^The storage s3:\/\/bucket\/ at http:\/\/127\.0\.0\.1:1 cannot be used\. .*ECONNREFUSED.*\. Check that the S3 server runs, and its address in MILLRACE_STORAGE_URL\.$/,
  ],
  [
    'the ffmpeg that was set is not there',
    async () => ({ MILLRACE_FFMPEG_PATH: '/nonexistent' }),
    /^ffmpeg\.path: \/nonexistent does not run: .+$/,
  ],
  [
    'the ffmpeg that was set is another program',
    async () => {
      const path = await fileWith('#!/bin/sh\necho hello\n');
      chmodSync(path, 0o755);
      return { MILLRACE_FFMPEG_PATH: path };
    },
    /^ffmpeg\.path: .* does not run: does not answer -version as ffmpeg does$/,
  ],
  [
    'the certificate is not there',
    async () => ({
      MILLRACE_TLS_CERT: '/nonexistent.pem',
      MILLRACE_TLS_KEY: '/nonexistent.key',
      MILLRACE_HTTPS_PORT: '0',
    }),
    /^The file \/nonexistent\.pem cannot be read: .+$/,
  ],
  [
    'certificate and key do not belong together',
    async () => ({
      MILLRACE_TLS_CERT: await fileWith(makeSelfSigned('localhost').cert),
      MILLRACE_TLS_KEY: await fileWith(makeSelfSigned('localhost').key),
      MILLRACE_RTMPS_PORT: '0',
    }),
    /^The certificate .* with the key .* cannot be used: .+$/,
  ],
];

test.concurrent.for(refusals)(
  '%s: one clear line, and nothing is changed',
  async ([, makeEnv, line, exitCode = 1], { expect }) => {
    const folder = await newFolder();
    const { code, lines } = await runToEnd({
      MILLRACE_DATA_DIR: join(folder, 'new/data'),
      ...(await makeEnv()),
    });
    expect(readdirSync(folder)).toEqual([]);
    expect(lines).toEqual([expect.stringMatching(line)]);
    expect(code).toBe(exitCode);
  },
);

test.concurrent('a data folder that another Millrace uses: one clear line and exit code 1', async () => {
  const dataDir = await newFolder();
  const first = await startServerProcess({ dataDir });
  try {
    const { code, lines } = await runToEnd({ MILLRACE_DATA_DIR: dataDir });
    expect(lines).toEqual([`The data folder ${dataDir} is in use by another process.`]);
    expect(code).toBe(1);
    expect((await fetch(`${first.baseUrl}/health/live`)).status).toBe(200);
  } finally {
    expect(await first.stop()).toEqual({ code: 0, signal: null });
  }
});

test.concurrent('the first keys are printed by the first start that succeeds, also after one that was killed, and never again', async () => {
  const dataDir = await newFolder();
  const keyLine = /^ {2}Sandbox API key +(\S+)$/;
  const start = async () => {
    const server = await startServerProcess({
      dataDir,
      env: { MILLRACE_BOOTSTRAP_SANDBOX_KEY: '', MILLRACE_LOG_LEVEL: 'debug' },
    });
    const status = async (key: string) => {
      const authorization = `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
      return (await fetch(`${server.baseUrl}/live-streams`, { headers: { authorization } })).status;
    };
    return { server, status };
  };
  const failed = await runToEnd({
    MILLRACE_DATA_DIR: dataDir,
    MILLRACE_RTMP_PORT: String(await takenPort()),
  });
  expect(failed.code).toBe(1);
  expect(failed.stdout).not.toContain('API key');

  // A start that is killed before it is ready leaves this.
  const database = await openTestDatabase(dataDir);
  await bootstrapAccount(database, {
    isUpgraded: true,
    adminEmail: 'admin@localhost',
    unseenFile: unseenSecretsFile(dataDir),
  });
  await database.stop();

  const first = await start();
  const key = first.server.lines.map(line => keyLine.exec(line)?.[1]).find(found => found !== undefined)!;
  expect(await first.status(key)).toBe(200);
  expect(await first.server.stop()).toEqual({ code: 0, signal: null });

  const second = await start();
  expect(await second.status(key)).toBe(200);
  expect(await second.server.stop()).toEqual({ code: 0, signal: null });
  expect(second.server.lines).toContain('Millrace is running.');
  expect(second.server.lines.filter(line => line.includes(key) || keyLine.test(line))).toEqual([]);
});

test.concurrent('the first keys are in a file where one is named, and everything in the data folder is private', async () => {
  const dataDir = await newFolder();
  const secretsFile = join(dataDir, 'secrets.json');
  // Creates the folder as an earlier version left it.
  mkdirSync(join(dataDir, 'vod'));
  writeFileSync(join(dataDir, 'notes.txt'), '');
  for (const name of ['.', 'vod']) chmodSync(join(dataDir, name), 0o755);
  chmodSync(join(dataDir, 'notes.txt'), 0o644);
  const server = await startServerProcess({
    dataDir,
    env: {
      MILLRACE_BOOTSTRAP_SANDBOX_KEY: '',
      MILLRACE_BOOTSTRAP_SECRETS_FILE: secretsFile,
      MILLRACE_LOG_LEVEL: 'trace',
    },
  });
  const secrets = JSON.parse(readFileSync(secretsFile, 'utf8')) as Record<string, string>;
  const authorization = `Basic ${Buffer.from(`${secrets.sandboxKey}:`).toString('base64')}`;
  expect((await fetch(`${server.baseUrl}/account`, { headers: { authorization } })).status).toBe(200);
  for (const name of readdirSync(dataDir)) {
    expect([name, statSync(join(dataDir, name)).mode & 0o077]).toEqual([name, 0]);
  }
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  const printed = server.lines.join('\n');
  expect(printed).toContain(`Your sign-in and API keys are in ${secretsFile}.`);
  for (const name of ['sandboxKey', 'productionKey', 'adminPassword']) {
    expect([name, printed.includes(secrets[name]!)]).toEqual([name, false]);
  }
});

test.concurrent('a folder with other data is refused and stays as it is', async () => {
  const dataDir = await newFolder();
  mkdirSync(join(dataDir, 'work'));
  writeFileSync(join(dataDir, 'work/thesis.txt'), '');
  for (const name of ['.', 'work']) chmodSync(join(dataDir, name), 0o755);
  const { code, lines } = await runToEnd({ MILLRACE_DATA_DIR: dataDir });
  expect({ code, lines }).toEqual({
    code: 1,
    lines: [
      `The folder ${dataDir} holds other data, such as "work", and none of Millrace. Use an empty folder for Millrace alone, such as --data-dir=${dataDir}/millrace.`,
    ],
  });
  expect(readdirSync(dataDir, { recursive: true })).toEqual(['work', 'work/thesis.txt']);
  expect(['.', 'work'].map(name => statSync(join(dataDir, name)).mode & 0o777)).toEqual([0o755, 0o755]);
});

test.concurrent('a file or pipe as data folder keeps its permissions', async () => {
  const folder = await newFolder();
  const [file, pipe] = [join(folder, 'file'), join(folder, 'pipe')];
  writeFileSync(file, '');
  execFileSync('mkfifo', [pipe]);
  for (const path of [file, pipe]) {
    chmodSync(path, 0o666);
    const { code, lines } = await runToEnd({ MILLRACE_DATA_DIR: path });
    expect({ code, lines }).toEqual({
      code: 1,
      lines: [`The data folder ${path} is not writable: EEXIST: file already exists, mkdir '${path}'`],
    });
    expect(statSync(path).mode & 0o777).toBe(0o666);
  }
});

test.concurrent('it is ready once its first account exists and everything has started', async () => {
  const answers: { ready: number; account: number | undefined }[] = [];
  let polling: Promise<void> | undefined;
  const statusOf = async (port: number, path: string) => {
    const auth = 'production-key-of-this-test-0123456789:';
    const asked = request({ host: '127.0.0.1', port, path, auth, agent: false }).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    return answer.statusCode ?? 0;
  };
  const poll = async (port: number) => {
    for (let ready = 0; ready !== 200; ) {
      ready = await statusOf(port, '/health/ready');
      answers.push({ ready, account: ready === 200 ? await statusOf(port, '/account') : undefined });
    }
  };
  const warnings: string[] = [];
  const sink = {
    write: (line: string) => {
      const entry = JSON.parse(line) as {
        level: string;
        component?: string;
        event?: string;
        httpPort?: number;
      };
      if (entry.level === 'warn' && entry.component !== 'main') warnings.push(line);
      if (entry.component === 'http' && entry.event === 'listening') polling = poll(entry.httpPort!);
    },
  };
  const log = await createLogger({ level: 'info', pretty: false, sink });
  // The ffmpegs of the machine are no concern of this test.
  await using _server = await startServer({ 'ffmpeg.path': ffmpegPath }, { log, isFirstStart: true });
  await polling;
  expect(answers.length).toBeGreaterThan(1);
  expect(answers.slice(0, -1).every(({ ready }) => ready === 503)).toBe(true);
  expect(answers.at(-1)).toEqual({ ready: 200, account: 200 });
  // Requests before the start are no reason for a warning.
  expect(warnings).toEqual([]);
});

test.concurrent('it prints a line before it loads the server, and loads nothing that the first request for it can load', async () => {
  const dataDir = await newFolder();
  const notesFile = join(await newFolder(), 'notes');
  const asked = join(await newFolder(), 'asked');
  const program = join(await newFolder(), 'ffmpeg');
  writeFileSync(program, `#!/bin/sh\necho asked >> ${asked}\nexec ${ffmpegPath} "$@"\n`, { mode: 0o755 });
  const env = {
    MILLRACE_FFMPEG_PATH: program,
    MILLRACE_TEST_BUILD: '',
    MILLRACE_TEST_NOTES: notesFile,
    NODE_OPTIONS: `--import=${new URL('../support/note-modules.ts', import.meta.url)}`,
  };
  const first = await startServerProcess({ dataDir, env });
  await first.stop();
  expect(first.lines.filter(line => line.includes('process-limits-missing'))).toEqual([]);
  const notes = readFileSync(notesFile, 'utf8').trim().split('\n');
  const printedAt = notes.indexOf('print Millrace is starting.');
  const early = notes.slice(0, printedAt).map(line => line.replace(pathToFileURL(root).href, ''));
  expect(early.map(line => line.replace(/dist\/\w+\//, 'dist/').replace(/-[A-Z0-9]+\.js$/, '.js'))).toEqual([
    'load bin/millrace.cjs',
    'load package.json',
    'load scripts/build/current-build.js',
    'load dist/main.js',
    'load dist/start.js',
    // Errors, the command line, and four lines of esbuild that modules share.
    'load dist/chunk.js',
    'load dist/chunk.js',
    'load dist/chunk.js',
  ]);
  const loaded = notes.filter(line => line.startsWith('load ')).map(line => line.slice('load '.length));
  expect(loaded.some(url => /\/start-app-\w+\.js$/.test(url))).toBe(true);
  const later =
    /markdown-it|shiki|hls\.js\/|maxmind|mmdb|countries-list|esbuild|preact|formidable|koa-body|opentelemetry|nodemailer|simplewebauthn|peculiar|openid-client|\/jose\/|aws-sdk|\/pg\/|scripts\/build\.ts/;
  const isSource = (url: string) => url.startsWith(pathToFileURL(join(root, 'src')).href);
  expect(loaded.filter(url => later.test(url) || isSource(url))).toEqual([]);
  // Any other character doubles the memory that the code of a file takes: regular expressions must escape it.
  const built = loaded.filter(url => url.startsWith(pathToFileURL(join(root, 'dist')).href));
  expect(built.filter(url => /[^\0-\x7f]/.test(readFileSync(new URL(url), 'utf8')))).toEqual([]);

  // The program is asked for its version at the first start only.
  const second = await startServerProcess({ dataDir, env });
  await second.stop();
  expect(readFileSync(asked, 'utf8')).toBe('asked\n');
});

test.concurrent('a limit on open files that is too low is told with what to do', async () => {
  const { code, stdout } = await runToEnd(
    {
      MILLRACE_LOG_LEVEL: 'warn',
      MILLRACE_HTTP_MAX_CONNECTIONS: '1000000',
      // Ends it.
      MILLRACE_RTMP_PORT: String(await takenPort()),
    },
    [],
    'ulimit -n 5000',
  );
  expect(code).toBe(1);
  const lines = stdout.split('\n').filter(line => line.includes('descriptor-limit-low'));
  expect(lines.map(line => JSON.parse(line))).toEqual([
    expect.objectContaining({
      limit: 5_000,
      needed: 1_021_000,
      advice: expect.stringContaining('LimitNOFILE'),
    }),
  ]);
});

test.concurrent('bad settings: every problem on a line of its own, and exit code 2', async () => {
  const { code, lines } = await runToEnd({ MILLRACE_HTTP_PORT: 'http', MILLRACE_RTMP_PROT: '1935' }, [
    '--live.window=long',
  ]);
  expect(lines).toEqual([
    'MILLRACE_RTMP_PROT: unknown setting',
    expect.stringMatching(/^MILLRACE_HTTP_PORT: expected a whole number/),
    expect.stringMatching(/^--live\.window: expected a duration/),
  ]);
  expect(code).toBe(2);
});

test.concurrent.each([
  [['--help'], /^Usage: npm start/, 0],
  [['--version'], /^\d+\.\d+\.\d+\n$/, 0],
] as const)('%j prints and ends', async (args, text, exitCode) => {
  const { code, stdout, lines } = await runToEnd({}, args);
  expect(stdout).toMatch(text);
  expect(lines).toEqual([]);
  expect(code).toBe(exitCode);
});
