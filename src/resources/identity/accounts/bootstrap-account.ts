import { rm } from 'node:fs/promises';
import { type Clock, systemClock } from '../../../shared/clock.ts';
import { type EmailAddress, readEmail } from '../../../shared/email-address.ts';
import { AppError } from '../../../shared/errors.ts';
import { randomBase62 } from '../../../shared/ids.ts';
import { passwordLength } from '../../../shared/limits/resource-limits.ts';
import { Secret } from '../../../shared/secret.ts';
import type { Database } from '../../../store/database.ts';
import { AccountsStore } from './accounts.store.ts';
import { createAccount } from './create-account.ts';
import { discardSecrets, publishSecrets, readSecrets, stageSecrets, writeSecrets } from './secrets-file.ts';

const minApiKeyLength = 32;

interface BootstrapOptions {
  readonly sandboxKey?: Secret;
  readonly productionKey?: Secret;
  readonly isUpgraded: boolean;
  readonly adminEmail: string;
  readonly adminPassword?: Secret;
  readonly secretsFile?: string;
  /**
   * Keeps the secrets until they have been shown, when the caller removes it. Without it, nobody would know them after a
   * crash in between. Not used with `secretsFile`.
   */
  readonly unseenFile?: string;
  readonly clock?: Clock;
}

export interface BootstrapSecrets {
  readonly sandboxKey: Secret;
  readonly productionKey: Secret;
  readonly adminEmail: string;
  readonly adminPassword: Secret;
}

/**
 * Creates the first account with keys and a user, or completes users that an older version created.
 * @returns undefined when an account exists whose secrets have been shown
 * @throws AppError `config-invalid` when a key or password is unusable or too short, or the file cannot be
 * written
 */
export async function bootstrapAccount(
  database: Database,
  options: BootstrapOptions,
): Promise<BootstrapSecrets | undefined> {
  const accounts = new AccountsStore(database);
  const { secretsFile } = options;
  const unseenFile = secretsFile === undefined ? options.unseenFile : undefined;
  if (!(await accounts.isEmpty())) {
    // The server may have crashed after creating the account and before publishing its file.
    if (secretsFile !== undefined) await publishSecrets(secretsFile);
    await accounts.members.addMissing();
    return unseenFile === undefined ? undefined : unseenSecrets(unseenFile, accounts);
  }
  requireLengths(options);
  const adminEmail = requireEmail(options.adminEmail);
  const secrets: BootstrapSecrets = {
    sandboxKey: options.sandboxKey ?? new Secret(randomBase62(43)),
    productionKey: options.productionKey ?? new Secret(randomBase62(43)),
    adminEmail,
    adminPassword: options.adminPassword ?? new Secret(randomBase62(20)),
  };
  requireUsableKeys(secrets.sandboxKey.reveal(), secrets.productionKey.reveal());
  const keys = { sandbox: secrets.sandboxKey.reveal(), production: secrets.productionKey.reveal() };
  const password = secrets.adminPassword.reveal();
  const texts = {
    adminEmail,
    adminPassword: password,
    sandboxKey: keys.sandbox,
    productionKey: keys.production,
  };
  if (secretsFile !== undefined) await stageSecrets(secretsFile, texts);
  if (unseenFile !== undefined) await writeSecrets(unseenFile, texts);
  const discard = async () => {
    if (secretsFile !== undefined) await discardSecrets(secretsFile);
    if (unseenFile !== undefined) await rm(unseenFile, { force: true });
  };
  let accountId: string | undefined;
  try {
    const atMs = (options.clock ?? systemClock).nowMs();
    accountId = await createAccount(database, {
      email: adminEmail,
      isUpgraded: options.isUpgraded,
      isFirst: true,
      keys,
      password,
      atMs,
    });
  } catch (error) {
    await discard();
    throw error;
  }
  if (accountId === undefined) {
    // Another server on this database was faster.
    await discard();
    return undefined;
  }
  if (secretsFile !== undefined) await publishSecrets(secretsFile);
  return secrets;
}

/** Returns the secrets that a start before this one could not show; undefined when their keys do not work. */
async function unseenSecrets(path: string, accounts: AccountsStore): Promise<BootstrapSecrets | undefined> {
  const texts = await readSecrets(path);
  if (texts === undefined) return undefined;
  const { adminEmail, adminPassword, sandboxKey, productionKey } = texts;
  if ((await accounts.ownerOfKey(productionKey)) === undefined) {
    await rm(path, { force: true });
    return undefined;
  }
  return {
    adminEmail,
    adminPassword: new Secret(adminPassword),
    sandboxKey: new Secret(sandboxKey),
    productionKey: new Secret(productionKey),
  };
}

function requireLengths({ sandboxKey, productionKey, adminPassword }: BootstrapOptions): void {
  const given = [
    { setting: 'bootstrap.sandboxKey', what: 'An API key', secret: sandboxKey, min: minApiKeyLength },
    { setting: 'bootstrap.productionKey', what: 'An API key', secret: productionKey, min: minApiKeyLength },
    { setting: 'admin.password', what: 'A password', secret: adminPassword, min: passwordLength.min },
  ];
  const problems = given
    .filter(({ secret, min }) => secret !== undefined && secret.reveal().length < min)
    .map(
      ({ setting, what, min }) =>
        `${setting}: ${what} needs at least ${min} characters. Set a longer one, or leave the setting out and the server generates one.`,
    );
  if (problems.length > 0) throw new AppError('config-invalid', problems.join('\n'));
}

function requireEmail(text: string): EmailAddress {
  const { email, problem } = readEmail(text);
  if (email !== undefined) return email;
  throw new AppError('config-invalid', `admin.email: ${problem} Set another one.`);
}

/** A key is the user name of a Basic credential, which ends at the first colon. */
function requireUsableKeys(...keys: string[]): void {
  if (keys.some(key => !/^[\x21-\x39\x3b-\x7e]+$/.test(key))) {
    throw new AppError(
      'config-invalid',
      'A bootstrap API key must consist of printable ASCII characters, without spaces and colons.',
    );
  }
  if (new Set(keys).size < keys.length) {
    throw new AppError('config-invalid', 'The bootstrap API keys of sandbox and production must differ.');
  }
}
