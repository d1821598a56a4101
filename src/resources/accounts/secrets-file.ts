import { randomBytes } from 'node:crypto';
import { link, open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { AppError, messageOf, systemCodeOf } from '../../shared/errors.ts';
import { syncFolderOf } from '../../storage/media-files.ts';

/**
 * Writes secrets as JSON into a new file that only the server's user can read. The file is there as a whole or not at all, and an
 * existing one is kept.
 *
 * @throws AppError `config-invalid` when the file exists or cannot be written
 */
export async function writeSecretsFile(
  path: string,
  secrets: Readonly<Record<string, string>>,
): Promise<void> {
  const target = resolve(path);
  const temporary = `${target}.${randomBytes(6).toString('hex')}`;
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(secrets, null, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    // Unlike a rename, a link never takes the place of a file.
    await link(temporary, target);
    await syncFolderOf(target);
  } catch (error) {
    const reason =
      systemCodeOf(error) === 'EEXIST'
        ? 'the file exists already. Move it away, or set another path.'
        : `the file cannot be written: ${messageOf(error)}. Set a path in a folder that the server may write to.`;
    throw new AppError('config-invalid', `bootstrap.secretsFile: ${target}: ${reason}`, { cause: error });
  } finally {
    await rm(temporary, { force: true });
  }
}
