import { link, open, readFile, rm, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AppError, messageOf, systemCodeOf } from '../../../shared/errors.ts';
import { syncFolderOf } from '../../../storage/media-files.ts';

type SecretTexts = Readonly<Record<'adminEmail' | 'adminPassword' | 'sandboxKey' | 'productionKey', string>>;

/**
 * Writes secrets to a temporary file beside `path` that only the server's user can read. {@link
 * publishSecrets} renames it once the secrets work, so that the next start recovers from a crash in between.
 * @throws AppError `config-invalid` when `path` exists or its folder is not writable
 */
export async function stageSecrets(path: string, secrets: SecretTexts): Promise<void> {
  const staged = stagedPath(path);
  await withConfigErrors(path, async () => {
    if (await hasFile(path)) throw Object.assign(new Error('a file is in the way'), { code: 'EEXIST' });
    await writeSecrets(staged, secrets);
  });
}

/** Exists from the creation of the first account until a start has shown its secrets. */
export function unseenSecretsFile(dataDir: string): string {
  return join(dataDir, 'unseen-secrets.json');
}

/** Writes a file that only the server's user can read. */
export async function writeSecrets(path: string, secrets: SecretTexts): Promise<void> {
  await rm(path, { force: true });
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(secrets, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Undefined without a file. */
export async function readSecrets(path: string): Promise<SecretTexts | undefined> {
  return (await hasFile(path)) ? JSON.parse(await readFile(path, 'utf8')) : undefined;
}

/** @throws AppError `config-invalid` when `path` exists or its folder is not writable */
export async function publishSecrets(path: string): Promise<void> {
  const [staged, target] = [stagedPath(path), resolve(path)];
  await withConfigErrors(path, async () => {
    if (!(await hasFile(staged))) return;
    // Unlike a rename, a link never replaces a file. After a crash it may exist already.
    if (!(await isSameFile(staged, target))) await link(staged, target);
    await syncFolderOf(target);
    await rm(staged);
  });
}

export async function discardSecrets(path: string): Promise<void> {
  await rm(stagedPath(path), { force: true });
}

function stagedPath(path: string): string {
  return `${resolve(path)}.new`;
}

async function hasFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

async function isSameFile(path: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all([path, other].map(each => stat(each).catch(() => undefined)));
  return one !== undefined && two !== undefined && one.ino === two.ino && one.dev === two.dev;
}

async function withConfigErrors(path: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const reason =
      systemCodeOf(error) === 'EEXIST'
        ? 'the file exists already. Move it away, or set another path.'
        : `the file cannot be written: ${messageOf(error)}. Set a path in a folder that the server may write to.`;
    throw new AppError('config-invalid', `bootstrap.secretsFile: ${resolve(path)}: ${reason}`, {
      cause: error,
    });
  }
}
