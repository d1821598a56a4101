import { spawn } from 'node:child_process';
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startServerProcess } from '../../scripts/server-process.ts';
import { verifyPassword } from '../../src/resources/identity/accounts/password.ts';
import { schemaVersion } from '../../src/store/migrations.ts';
import { openDatabaseWithoutLock } from '../../src/store/open-database.ts';
import { RunningServers } from '../../src/store/running-servers.ts';
import { addPasskey, passkeySignIn } from '../support/passkeys.ts';
import { addUser, admin, emailOf, signIn } from '../support/sign-in.ts';
import { basic, productionKey, sandboxKey, startApi, type TestApi } from '../support/start-api.ts';
import { makeTempDir, removeDir } from '../support/temp-dir.ts';
import { enableTwoFactor } from '../support/two-factor.ts';
import { canRunUnprivileged, unprivilegedUid } from '../support/unprivileged-user.ts';
import { waitUntil } from '../support/wait-until.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs the command as a process of its own, as `npm run account` does. */
async function account(
  args: readonly string[],
  env: Record<string, string> = {},
  options: { cwd?: string; uid?: number } = {},
) {
  const child = spawn(process.execPath, [join(root, 'bin/millrace.cjs'), 'account', ...args], {
    cwd: root,
    ...options,
    env: { ...process.env, MILLRACE_DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', text => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', text => {
    stderr += text;
  });
  const { promise: code, resolve } = Promise.withResolvers<number | null>();
  child.once('close', resolve);
  return { code: await code, stdout, stderr };
}

/** Parses the JSON of a command that succeeds. */
async function json(...args: string[]) {
  const { code, stdout, stderr } = await account([...args, '--json']);
  expect([code, stderr]).toEqual([0, `Data folder: ${dataDir}\n`]);
  return JSON.parse(stdout);
}

let dataDir: string;
let server: TestApi | undefined;
beforeAll(async () => {
  dataDir = await makeTempDir();
  server = await startApi({ dataDir });
});
afterAll(async () => {
  await server?.stop();
  await removeDir(dataDir);
});

const statusOf = async (key: string) => (await server!.call('GET', '/account', { key })).status;
const isSignedIn = async (cookie: string) =>
  (await server!.call('GET', '/auth/session', { headers: { cookie } })).status === 200;
const bearer = (token: string) =>
  server!.call('GET', '/account', { key: null, headers: { authorization: `Bearer ${token}` } });

describe('the account command, beside a server that runs', () => {
  it('makes an account whose keys work at once, prints them once, and refuses its address a second time', async () => {
    const { code, stdout, stderr } = await account(['create', 'studio@example.org']);
    expect([code, stderr]).toEqual([0, `Data folder: ${dataDir}\n`]);
    const told = (name: string) => new RegExp(`^ {2}${name} +(\\S+)`, 'm').exec(stdout)![1]!;
    expect(stdout).toMatch(/shown once/);
    expect(stdout).toMatch(/works once the account is upgraded/);
    const key = told('Sandbox API key');
    const { json: shown } = await server!.call('GET', '/account', { key });
    expect(shown).toMatchObject({ email: 'studio@example.org', upgraded: false, environment: 'sandbox' });
    expect(await statusOf(told('Production API key'))).toBe(401);
    const user = (await server!.api.accounts.findUser(emailOf('Studio@Example.org')))!;
    expect(await verifyPassword(told('Password'), user.passwordHash)).toBe(true);

    const again = await account(['create', 'STUDIO@example.org', '--upgraded']);
    expect([again.code, again.stdout]).toEqual([1, '']);
    expect(again.stderr).toContain('An account with the email address studio@example.org already exists.\n');
  });

  it('upgrades, suspends and takes both back; the server notices within a second or so', async () => {
    const made = await json('create', 'two@example.org', '--upgraded');
    expect(made).toMatchObject({
      email: 'two@example.org',
      upgraded: true,
      suspended: false,
      keys: 2,
      videos: 0,
    });
    expect(await statusOf(made.productionKey)).toBe(200);
    const { access_token: token } = (
      await server!.call('POST', '/auth/api-key', { key: null, body: { apiKey: made.sandboxKey } })
    ).json;

    expect(await json('upgrade', made.accountId, '--undo')).toMatchObject({ upgraded: false });
    await waitUntil(async () => (await statusOf(made.productionKey)) === 401);
    expect(await json('upgrade', made.accountId)).toMatchObject({ upgraded: true });
    await waitUntil(async () => (await statusOf(made.productionKey)) === 200);
    // The upgrade opens production: the sandbox keeps its rules.
    const environmentOf = async (key: string) =>
      (await server!.call('GET', '/account', { key })).json.environment;
    expect(await environmentOf(made.sandboxKey)).toBe('sandbox');
    expect(await environmentOf(made.productionKey)).toBe('production');
    const cookie = await signIn(server!, { email: made.email, password: made.password });
    expect(await json('suspend', 'two@example.org')).toMatchObject({ suspended: true });
    await waitUntil(async () => !(await isSignedIn(cookie)));
    await waitUntil(async () => (await statusOf(made.sandboxKey)) === 403);
    expect((await bearer(token)).status).toBe(403);
    const undone = await account(['suspend', 'two@example.org', '--undo']);
    expect(undone.stdout).toBe(`two@example.org (${made.accountId}) is no longer suspended.\n`);
    await waitUntil(async () => (await statusOf(made.sandboxKey)) === 200);
    expect(await statusOf(sandboxKey)).toBe(200);
  });

  it('makes further keys, and another password, with which the sessions of the old one end', async () => {
    const cookie = await signIn(server!);
    expect(await isSignedIn(cookie)).toBe(true);
    const made = await json('keys', 'admin@localhost');
    expect((await server!.call('GET', '/account', { key: made.sandboxKey })).json.accountId).toBe(
      made.accountId,
    );
    expect(made.projectName).toBe('Default');
    expect(await statusOf(sandboxKey)).toBe(200);
    const { password } = await json('password', 'admin@localhost');
    const user = (await server!.api.accounts.findUser(emailOf('admin@localhost')))!;
    expect(await verifyPassword(password, user.passwordHash)).toBe(true);
    await waitUntil(async () => !(await isSignedIn(cookie)));
    await signIn(server!, { ...admin, password });
  });

  it('is recorded in the audit log of the account', async () => {
    const email = 'recorded@example.org';
    const { sandboxKey: key, productionKey: production } = await json('create', email, '--upgraded');
    await json('suspend', email);
    await json('suspend', email, '--undo');
    await json('keys', email);
    await json('password', email);
    let answer = await server!.call('GET', '/account/audit-log', { key: production });
    await waitUntil(async () => {
      answer = await server!.call('GET', '/account/audit-log', { key: production });
      return answer.status === 200;
    });
    const entries: { action: string; actor: object }[] = answer.json.data;
    expect(entries.map(({ action }) => action)).toEqual([
      ...['password.reset', 'api-key.create', 'account.resume', 'account.suspend', 'account.create'],
    ]);
    for (const { actor } of entries) expect(actor).toEqual({ kind: 'operator', name: 'npm run account' });
    for (const secret of [key, production]) expect(answer.text).not.toContain(secret);
  });

  it('gives a user another email address, which nobody else has', async () => {
    const user = { email: 'old@example.org', password: 'a password of tests' };
    const { accountId } = (await server!.api.accounts.findUser(emailOf('admin@localhost')))!;
    await addUser(server!, accountId, user);
    const { userId } = (await server!.api.accounts.findUser(emailOf(user.email)))!;
    const taken = await account(['email', user.email, 'Admin@LocalHost']);
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('Another user has')]);
    const invalid = await account(['email', user.email, 'new@example.org.']);
    expect([invalid.code, invalid.stderr]).toEqual([2, expect.stringContaining('not a host name')]);
    expect(await json('email', user.email, 'New@BÜRO.example')).toEqual({
      userId,
      email: 'new@xn--bro-hoa.example',
    });
    expect((await server!.api.accounts.findUser(emailOf(user.email)))?.userId).toBeUndefined();
    const again = await account(['email', userId, 'newer@example.org']);
    expect(again.stdout).toBe(
      `The user ${userId} now signs in as newer@example.org. The password stays the same.\n`,
    );
    await signIn(server!, { ...user, email: 'newer@example.org' });
    const unknown = await account(['email', 'us0', 'newest@example.org']);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('No user signs in as us0')]);
  });

  it('verifies a user, with a new password, and ends what was set up before', async () => {
    const user = { email: 'invited@example.org', password: 'a password of tests' };
    const { accountId } = (await server!.api.accounts.findUser(emailOf('admin@localhost')))!;
    await addUser(server!, accountId, { ...user, isVerified: false });
    const cookie = await signIn(server!, user);
    await addPasskey(server!, cookie, user);
    const { code, stdout } = await account(['verify', user.email]);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('The following was removed: 1 passkey and 1 session.'),
    ]);
    const given = /^ {2}Password +(\S+)/m.exec(stdout)![1]!;
    await waitUntil(async () => !(await isSignedIn(cookie)));
    const renewed = { ...user, password: given };
    const again = await addPasskey(server!, await signIn(server!, renewed), renewed);
    expect((await account(['verify', user.email])).stdout).toBe(
      'invited@example.org is already verified. Nothing has changed.\n',
    );
    expect(await json('password', user.email, '--keep')).toMatchObject({ removed: { passkeys: 0 } });
    expect(await json('passkeys', user.email)).toMatchObject({ passkeys: [{ passkeyId: again.passkeyId }] });
    expect(await json('password', user.email)).toMatchObject({ removed: { passkeys: 1 } });
  });

  it('tells whether a user has two-factor sign-in, and turns it off for a lost device', async () => {
    const user = { email: 'careful@example.org', password: 'a password of tests' };
    const { accountId } = (await server!.api.accounts.findUser(emailOf('admin@localhost')))!;
    await addUser(server!, accountId, user);
    await enableTwoFactor(server!, await signIn(server!, user), user);
    const told = async (...args: string[]) => (await json('two-factor', user.email, ...args)).twoFactor;
    expect([await told(), await told('--undo'), await told()]).toEqual([true, false, false]);
    await signIn(server!, user);
    const { code, stderr } = await account(['two-factor', 'nobody@example.org']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('No user signs in as nobody@example.org.')]);
  });

  it('lists and removes the passkeys of a user who lost devices', async () => {
    const user = { email: 'lost@example.org', password: 'a password of tests' };
    const { accountId } = (await server!.api.accounts.findUser(emailOf('admin@localhost')))!;
    await addUser(server!, accountId, user);
    expect((await account(['passkeys', user.email])).stdout).toBe(`${user.email} has no passkeys.\n`);
    const cookie = await signIn(server!, user);
    const { authenticator, passkeyId } = await addPasskey(server!, cookie, user);
    await addPasskey(server!, cookie, user);
    const { passkeys } = await json('passkeys', user.email);
    expect(passkeys).toHaveLength(2);
    expect(passkeys).toContainEqual({ passkeyId, name: 'Laptop', createdAt: expect.any(String) });
    const listed = await account(['passkeys', user.email]);
    expect(listed.stdout).toMatch(
      /^lost@example\.org has 2 passkeys\.\n\nNAME +CREATED +LAST USED\nLaptop +20/,
    );
    const removed = await account(['passkeys', user.email, '--remove']);
    expect(removed.stdout).toContain(`Removed 2 passkeys of ${user.email}. Sessions continue`);
    const body = await passkeySignIn(server!, authenticator);
    expect((await server!.call('POST', '/auth/passkey', { key: null, body })).status).toBe(401);
    expect(await isSignedIn(cookie)).toBe(true);
    await signIn(server!, user);
    expect(await json('passkeys', user.email, '--remove')).toEqual({
      email: user.email,
      removed: true,
      passkeys: [],
    });
    const headers = { cookie, 'millrace-environment': 'sandbox' };
    const path = '/account/audit-log?action=passkeys.reset';
    const { data } = (await server!.call('GET', path, { key: null, headers })).json;
    expect(data).toMatchObject([
      { actor: { kind: 'operator', name: 'npm run account' }, target: { kind: 'user', name: user.email } },
    ]);
    const { code, stderr } = await account(['passkeys', 'nobody@example.org']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('No user signs in as nobody@example.org.')]);
  });

  it('lists accounts with what they have', async () => {
    await server!.call('POST', '/videos', { body: { title: 'Film' } });
    await server!.call('POST', '/live-streams', { body: { name: 'Stage' } });
    const first = (await json('list')).find(({ email }: { email: string }) => email === 'admin@localhost');
    expect(first).toMatchObject({ keys: expect.any(Number), videos: 1, liveStreams: 1, upgraded: false });
    const { stdout } = await account(['list']);
    expect(stdout).toMatch(/^ID +EMAIL +UPGRADED +SUSPENDED +CREATED +KEYS +VIDEOS +LIVE STREAMS\n/);
    expect(stdout).toMatch(/^ac\S+ +admin@localhost +no +no +20\d\d-\d\d-\d\d +\d +1 +1$/m);
  });

  it('refuses what it does not understand with exit code 2, and names the usage', async () => {
    const cases: [string[], string][] = [
      [[], 'a command is missing'],
      [['constructor', 'x'], 'unknown command constructor'],
      [['create'], 'create: an email address or account id is missing'],
      [['create', 'not-an-address'], 'not-an-address: An email address looks like'],
      [['list', 'a@b'], 'unknown argument a@b'],
      [['email', 'a@b'], 'email: the new address is missing'],
      [['keys', 'a@b', 'c@d'], 'unknown argument c@d'],
      [['upgrade', 'a@b', '--upgraded'], 'upgrade has no option --upgraded'],
      [['list', '--jsno'], 'unknown option --jsno'],
    ];
    const answers = await Promise.all(cases.map(([args]) => account(args)));
    for (const [index, { code, stdout, stderr }] of answers.entries()) {
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(cases[index]![1]);
      expect(stderr).toContain('. See "npm run account -- --help".\n');
    }
  });

  it('ends with code 1 when there is no such account', async () => {
    const commands = ['suspend', 'keys', 'password'];
    const answers = await Promise.all(commands.map(command => account([command, 'nobody@example.org'])));
    for (const { code, stdout, stderr } of answers) {
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/nobody@example\.org/);
    }
  });
});

describe('the account command, while no server runs', () => {
  it('works, and leaves the folder to the next start', async () => {
    await server!.stop();
    server = undefined;
    const made = await json('create', 'later@example.org', '--upgraded');
    await json('upgrade', 'admin@localhost');
    server = await startApi({ dataDir });
    for (const key of [made.productionKey, productionKey]) expect(await statusOf(key)).toBe(200);
    expect(
      (await server.call('GET', '/account', { key: null, headers: { authorization: basic('no') } })).status,
    ).toBe(401);
  });

  it('says that there is no database, and makes none', async () => {
    const empty = await makeTempDir();
    const { code, stderr } = await account(['list', `--dataDir=${empty}`]);
    expect(code).toBe(1);
    expect(stderr).toContain(`There is no database in ${empty}. `);
    expect(readdirSync(empty)).toEqual([]);
    await removeDir(empty);
  });

  it('is refused a database of another version, without touching its folder', async () => {
    for (const [difference, words] of [
      [-1, 'an older version'],
      [1, 'a newer version'],
    ] as const) {
      const folder = await makeTempDir();
      const other = new Sqlite(join(folder, 'millrace.db'));
      other.pragma(`user_version = ${schemaVersion + difference}`);
      other.close();
      await expect(openDatabaseWithoutLock({ dataDir: folder })).rejects.toThrow(
        `has schema ${schemaVersion + difference} of ${words}`,
      );
      expect(readdirSync(folder)).toEqual(['millrace.db']);
      await removeDir(folder);
    }
  });
});

describe('the data folder that the account command works on', () => {
  let home: string;
  let running: RunningServers;
  beforeAll(async () => {
    home = await makeTempDir();
    running = new RunningServers([stateFolder()]);
  });
  afterAll(() => removeDir(home));

  const stateFolder = () => join(home, '.local', 'state', 'millrace');
  const notes = () => readdirSync(stateFolder());
  /** Runs without a folder in the environment, and where no settings file is. */
  const unconfigured = (args: readonly string[], options: { uid?: number } = {}) =>
    account(
      args,
      { MILLRACE_DATA_DIR: '', XDG_DATA_HOME: '', HOME: home, TMPDIR: home },
      { cwd: home, ...options },
    );
  const serverOf = (folder: string) => ({
    dataDir: folder,
    programDir: root,
    publicUrl: 'http://localhost:1',
    startedAtMs: 1,
  });

  it('is that of the server that runs, until it ends in whatever way', async () => {
    const other = await makeTempDir();
    const process = await startServerProcess({ dataDir: other, env: { HOME: home, TMPDIR: home } });
    const found = await unconfigured(['list']);
    expect([found.code, found.stderr]).toEqual([
      0,
      `Data folder: ${other} (server at http://localhost:${process.httpPort}, process ${process.child.pid})\n`,
    ]);
    expect(found.stdout).toContain(' admin@localhost ');
    expect([statSync(stateFolder()).mode & 0o777, notes().length]).toEqual([0o700, 1]);
    expect(statSync(join(stateFolder(), notes()[0]!)).mode & 0o777).toBe(0o600);

    process.child.kill('SIGKILL');
    await process.exited;
    const lost = await unconfigured(['list']);
    expect([lost.code, lost.stdout]).toEqual([1, '']);
    expect(lost.stderr).toContain(
      `There is no database in ${join(home, '.local/share/millrace')}. Start the server once`,
    );
    expect(notes()).toEqual([]);

    const again = await startServerProcess({ dataDir: other, env: { HOME: home, TMPDIR: home } });
    expect(notes()).toHaveLength(1);
    await again.stop();
    expect(notes()).toEqual([]);
    await removeDir(other);
  });

  it('must be named while several servers run, and is then the named one', async () => {
    const other = await makeTempDir();
    const second = await startApi({ dataDir: other });
    const removers = [dataDir, other].map(folder => running.add(serverOf(folder)));
    const { code, stderr } = await unconfigured(['list']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Several servers are running\. Add the data folder of one of them:\n\n/);
    for (const folder of [dataDir, other])
      expect(stderr).toContain(`  --dataDir=${folder}   http://localhost:1, process `);

    const named = await unconfigured(['list', `--dataDir=${other}`]);
    expect([named.code, named.stderr]).toEqual([0, expect.stringContaining(`Data folder: ${other} `)]);
    for (const remove of removers) remove();
    await second.stop();
    await removeDir(other);
  });

  it('is never that of another program, of a process that ended, or of a folder that nobody has locked', async () => {
    const unlocked = await makeTempDir();
    running.add({ ...serverOf(dataDir), programDir: '/srv/another/' });
    running.add(serverOf(unlocked));
    const ended = { ...serverOf(dataDir), pid: 2 ** 30, host: hostname() };
    writeFileSync(join(stateFolder(), 'ended.json'), JSON.stringify(ended));
    const { code, stderr } = await unconfigured(['list']);
    expect(code).toBe(1);
    expect(stderr).toContain('Add the data folder of a running server:');
    expect(stderr).toContain(`  --dataDir=${dataDir}   `);
    expect(stderr).not.toContain(unlocked);
    expect(notes()).toHaveLength(1);
    await removeDir(unlocked);
  });

  it('is not used where the database of its server is PostgreSQL, whose URL the command lacks', async () => {
    const remove = running.add({ ...serverOf(dataDir), usesPostgres: true });
    const { code, stderr } = await unconfigured(['list']);
    remove();
    expect([code, stderr]).toEqual([
      1,
      'The server at http://localhost:1 uses PostgreSQL. Give this command the same MILLRACE_DATABASE_URL (or settings file) as the server.\n',
    ]);
  });

  it('is not looked for where other users can write', async () => {
    const shared = await makeTempDir();
    chmodSync(shared, 0o777);
    const servers = new RunningServers([shared]);
    expect(() => servers.add(serverOf(dataDir))).toThrow('can be changed by other users');
    writeFileSync(
      join(shared, 'a.json'),
      JSON.stringify({ ...serverOf(dataDir), pid: process.pid, host: hostname() }),
    );
    expect(servers.list()).toEqual([]);
    await removeDir(shared);
  });

  it.skipIf(!canRunUnprivileged)('names the user whose data folder cannot be read', async () => {
    const { code, stderr } = await account(['list'], { HOME: home }, { uid: unprivilegedUid });
    expect(code).toBe(1);
    expect(stderr).toBe(
      `The data folder ${dataDir} belongs to another user. Run this command as that user (sudo -u '#0' ...).\n`,
    );
  });
});
