import type { ListedAccount } from '../resources/identity/accounts/account-admin.store.ts';
import type { AccountAdmin } from '../resources/identity/accounts/account-admin.ts';
import type { RemovedCredentials } from '../resources/identity/accounts/removed-credentials.ts';
import type { EmailAddress } from '../shared/email-address.ts';
import { isInClone, operatorCommand } from '../shared/installation.ts';
import type { Secret } from '../shared/secret.ts';
import type { CommandLine } from './command-line.ts';
import type { Command } from './run-command.ts';
import { UsageError } from './usage-error.ts';

const usage = `Usage: ${operatorCommand('account', 'COMMAND [OPTIONS]')}

  create EMAIL [--upgraded]   creates an account in the sandbox, or upgraded; prints its keys and password once
  list                        lists all accounts
  upgrade EMAIL|ID [--undo]   allows an account to use production; --undo revokes it
  suspend EMAIL|ID [--undo]   blocks its requests and publishers; --undo unblocks them
  keys EMAIL|ID               creates another pair of API keys and prints it once
  email EMAIL|ID ADDRESS      gives a user another email address; ID is that of the user
  password EMAIL [--keep]     creates a new password and prints it once; ends sessions and passkeys, which --keep keeps
  verify EMAIL                confirms that a user’s email address is theirs; what they set up before is removed, and a
                              new password is printed once: give it to the person whose address it is
  two-factor EMAIL [--undo]   shows whether two-factor sign-in is on; --undo turns it off, for a lost device
  passkeys EMAIL [--remove]   lists the passkeys of a user; --remove removes them all, for lost devices

  --json                      prints JSON, for scripts${isInClone ? ' (then start it with "npm run -s account")' : ''}
  --dataDir=PATH              the data folder; by default that of the running server (or MILLRACE_DATA_DIR)
  --config PATH, --KEY=VALUE  other settings, as for the server
  --help                      prints this

Works while the server runs, which applies changes within a second, and while it is stopped.
`;

interface AccountRequest {
  readonly command: string;
  /** Email address or id; `''` for `list`. */
  readonly subject: string;
  /** The new address, for `email`. */
  readonly address: string;
  readonly isUpgraded: boolean;
  readonly isUndo: boolean;
  readonly isRemoval: boolean;
  readonly isKeep: boolean;
  readonly isJson: boolean;
}

interface Outcome {
  readonly lines: readonly string[];
  readonly value: unknown;
}

const commands: Readonly<Record<string, readonly string[]>> = {
  create: ['upgraded'],
  list: [],
  upgrade: ['undo'],
  suspend: ['undo'],
  keys: [],
  email: [],
  password: ['keep'],
  verify: [],
  'two-factor': ['undo'],
  passkeys: ['remove'],
};

export const command: Command = {
  usage,
  options: ['upgraded', 'undo', 'remove', 'keep', 'json'],
  expected: [],
  run: runAccountCommand,
};

async function runAccountCommand({ positionals, options, flags, configFile }: CommandLine): Promise<void> {
  const request = parseRequest(positionals, options);

  const { findDataDir } = await import('./command-data-dir.ts');
  const { openDatabaseWithoutLock } = await import('../store/open-database.ts');
  const { AccountAdmin } = await import('../resources/identity/accounts/account-admin.ts');
  const { systemClock } = await import('../shared/clock.ts');
  const { dataDir, databaseUrl, line } = findDataDir({ flags, configFile, env: process.env });
  // Prints to standard error: scripts parse standard output.
  process.stderr.write(`${line}\n`);
  const database = await openDatabaseWithoutLock({ dataDir, url: databaseUrl });
  try {
    const outcome = await applyRequest(request, new AccountAdmin(database, systemClock));
    if (typeof outcome === 'string') fail(outcome);
    else if (request.isJson) process.stdout.write(`${JSON.stringify(outcome.value)}\n`);
    else process.stdout.write(`${outcome.lines.join('\n')}\n`);
  } finally {
    await database.stop();
  }
}

function parseRequest(positionals: readonly string[], options: ReadonlySet<string>): AccountRequest {
  const [command = '', subject = '', ...more] = positionals;
  if (command === '') throw new UsageError('a command is missing');
  if (!Object.hasOwn(commands, command)) throw new UsageError(`unknown command ${command}`);
  const [address = '', ...rest] = command === 'email' ? more : ['', ...more];
  if (rest.length > 0 || (command === 'list' && subject !== '')) {
    throw new UsageError(`unknown argument ${rest[0] ?? subject}`);
  }
  if (command !== 'list' && subject === '')
    throw new UsageError(`${command}: an email address or account id is missing`);
  if (command === 'email' && address === '') throw new UsageError('email: the new address is missing');
  for (const option of options) {
    if (option !== 'json' && !commands[command]!.includes(option)) {
      throw new UsageError(`${command} has no option --${option}`);
    }
  }
  return {
    command,
    subject,
    address,
    isUpgraded: options.has('upgraded'),
    isUndo: options.has('undo'),
    isRemoval: options.has('remove'),
    isKeep: options.has('keep'),
    isJson: options.has('json'),
  };
}

async function applyRequest(request: AccountRequest, operator: AccountAdmin): Promise<Outcome | string> {
  const { command, subject, isUndo, isKeep } = request;
  if (command === 'email') return changeEmail(request, operator);
  const unknown = `There is no account ${subject}. List all accounts with "${operatorCommand('account', 'list')}".`;
  if (command === 'list') return listAccounts(await operator.list());
  if (command === 'create') return create(request, operator);
  if (command === 'password') {
    const set = await operator.setPassword(await emailOf(subject), { keepsPasskeys: isKeep });
    if (set === undefined) return unknownUser(subject);
    const { password, removed } = set;
    const secrets: Secrets = [
      ['Sign-in', subject],
      ['Password', password],
    ];
    return {
      lines: formatSecrets(`The password was changed.${await endedText(removed)}`, secrets),
      value: { email: subject, password: password.reveal(), removed },
    };
  }
  if (command === 'verify') return verify(request, operator);
  if (command === 'two-factor') return twoFactor(request, operator);
  if (command === 'passkeys') return passkeys(request, operator);
  if (command === 'keys') {
    const made = await operator.addKeys(subject);
    if (made === undefined) return unknown;
    const { account, projectName } = made;
    const { sandbox, production } = made.keys;
    return {
      lines: formatSecrets(
        `Created a pair of API keys of the project “${projectName}” for ${describeAccount(account)}. Existing keys stay valid.`,
        [
          ['Sandbox API key', sandbox],
          ['Production API key', production],
        ],
      ),
      value: {
        ...toJson(account),
        projectName,
        sandboxKey: sandbox.reveal(),
        productionKey: production.reveal(),
      },
    };
  }
  const change = command === 'upgrade' ? { isUpgraded: !isUndo } : { isSuspended: !isUndo };
  const account = await operator.setStanding(subject, change);
  if (account === undefined) return unknown;
  const state = command === 'upgrade' ? account.isUpgraded : account.isSuspended;
  const line = `${describeAccount(account)} is ${state ? 'now' : 'no longer'} ${command === 'upgrade' ? 'upgraded' : 'suspended'}.`;
  return { lines: [line], value: toJson(account) };
}

async function create(
  { subject, isUpgraded }: AccountRequest,
  operator: AccountAdmin,
): Promise<Outcome | string> {
  const email = await emailOf(subject);
  const made = await operator.create(email, isUpgraded);
  if (made === undefined) return `An account with the email address ${email} already exists.`;
  const { account, keys, password } = made;
  const lines = formatSecrets(`Created the account ${account.accountId}.`, [
    ['Sandbox API key', keys.sandbox],
    ['Production API key', keys.production, isUpgraded ? '' : '   (works once the account is upgraded)'],
    ['Sign-in', email],
    ['Password', password],
  ]);
  const secrets = {
    sandboxKey: keys.sandbox.reveal(),
    productionKey: keys.production.reveal(),
    password: password.reveal(),
  };
  return { lines, value: { ...toJson(account), ...secrets } };
}

async function changeEmail(
  { subject, address }: AccountRequest,
  operator: AccountAdmin,
): Promise<Outcome | string> {
  const email = await emailOf(address);
  const outcome = await operator.changeEmail(subject, email);
  if (outcome === 'unknown') return unknownUser(subject);
  if (outcome === 'taken') return `Another user has the email address ${email}. Choose another one.`;
  return {
    lines: [`The user ${outcome.userId} now signs in as ${email}. The password stays the same.`],
    value: { userId: outcome.userId, email },
  };
}

async function verify({ subject }: AccountRequest, operator: AccountAdmin): Promise<Outcome | string> {
  const email = await emailOf(subject);
  const outcome = await operator.verify(email);
  if (outcome === undefined) return unknownUser(subject);
  if (outcome === 'verified-before') {
    return {
      lines: [`${email} is already verified. Nothing has changed.`],
      value: { email, verified: true },
    };
  }
  const { password, removed } = outcome;
  const secrets: Secrets = [
    ['Sign-in', email],
    ['Password', password],
  ];
  return {
    lines: formatSecrets(`${email} is verified, with a new password.${await endedText(removed)}`, secrets),
    value: { email, verified: true, password: password.reveal(), removed },
  };
}

async function endedText(removed: RemovedCredentials): Promise<string> {
  const { describeRemoved, describeUnknownKeys } = await import(
    '../resources/identity/accounts/removed-credentials.ts'
  );
  const ended = describeRemoved(removed);
  return `${ended === undefined ? '' : ` The following was removed: ${ended}.`} ${describeUnknownKeys(removed)}`.trimEnd();
}

/** @throws UsageError */
async function emailOf(text: string): Promise<EmailAddress> {
  const { readEmail } = await import('../shared/email-address.ts');
  const { email, problem } = readEmail(text);
  if (email !== undefined) return email;
  throw new UsageError(`${text}: ${problem}`);
}

async function twoFactor(
  { subject, isUndo }: AccountRequest,
  operator: AccountAdmin,
): Promise<Outcome | string> {
  const email = await emailOf(subject);
  const wasEnabled = await operator.hasTwoFactor(email);
  if (wasEnabled === undefined) return unknownUser(subject);
  if (isUndo) await operator.disableTwoFactor(email);
  const isEnabled = wasEnabled && !isUndo;
  const ended = wasEnabled && isUndo ? ' All sessions of this user ended.' : '';
  return {
    lines: [`Two-factor sign-in of ${subject} is ${isEnabled ? 'on' : 'off'}.${ended}`],
    value: { email: subject, twoFactor: isEnabled },
  };
}

async function passkeys(
  { subject, isRemoval }: AccountRequest,
  operator: AccountAdmin,
): Promise<Outcome | string> {
  const email = await emailOf(subject);
  const found = await (isRemoval ? operator.removePasskeys(email) : operator.listPasskeys(email));
  if (found === undefined) return unknownUser(subject);
  const rows = found.map(({ name, createdAtMs, lastUsedAtMs }) => [
    name,
    dateOf(createdAtMs),
    lastUsedAtMs === undefined ? '-' : dateOf(lastUsedAtMs),
  ]);
  const table = found.length === 0 ? [] : ['', ...formatTable(['NAME', 'CREATED', 'LAST USED'], rows)];
  const count = `${found.length} ${found.length === 1 ? 'passkey' : 'passkeys'}`;
  const title = isRemoval
    ? `Removed ${count} of ${subject}. Sessions continue: a new password ends them.`
    : `${subject} has ${count}.`;
  return {
    lines: [found.length === 0 ? `${subject} has no passkeys.` : title, ...table],
    value: {
      email: subject,
      removed: isRemoval,
      passkeys: found.map(({ passkeyId, name, createdAtMs, lastUsedAtMs }) => ({
        passkeyId,
        name,
        createdAt: new Date(createdAtMs).toISOString(),
        lastUsedAt: lastUsedAtMs === undefined ? undefined : new Date(lastUsedAtMs).toISOString(),
      })),
    },
  };
}

function unknownUser(email: string): string {
  return `No user signs in as ${email}. List all accounts with "${operatorCommand('account', 'list')}".`;
}

type Secrets = readonly (readonly [name: string, value: string | Secret, note?: string])[];

function formatSecrets(title: string, secrets: Secrets): string[] {
  const rows = secrets.map(([name, value, note = '']) => {
    const text = typeof value === 'string' ? value : value.reveal();
    return `  ${name.padEnd(20)}${text}${note}`;
  });
  return [title, 'Save them now: they are shown once and stored only as hashes.', '', ...rows, ''];
}

function listAccounts(accounts: readonly ListedAccount[]): Outcome {
  const head = ['ID', 'EMAIL', 'UPGRADED', 'SUSPENDED', 'CREATED', 'KEYS', 'VIDEOS', 'LIVE STREAMS'];
  const rows = accounts.map(account => [
    account.accountId,
    account.email ?? '-',
    account.isUpgraded ? 'yes' : 'no',
    account.isSuspended ? 'yes' : 'no',
    dateOf(account.createdAtMs),
    ...[account.keys, account.videos, account.liveStreams].map(String),
  ]);
  return { lines: formatTable(head, rows), value: accounts.map(toJson) };
}

function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map(row => row[column]!.length)));
  return [head, ...rows].map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd(),
  );
}

function dateOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

function describeAccount({ email, accountId }: ListedAccount): string {
  return email === undefined ? accountId : `${email} (${accountId})`;
}

function toJson(account: ListedAccount) {
  const { accountId, email, isUpgraded, isSuspended, createdAtMs, keys, videos, liveStreams } = account;
  return {
    accountId,
    email,
    upgraded: isUpgraded,
    suspended: isSuspended,
    createdAt: new Date(createdAtMs).toISOString(),
    keys,
    videos,
    liveStreams,
  };
}

function fail(message: string): void {
  process.stderr.write(`${message.trimEnd()}\n`);
  process.exitCode = 1;
}
