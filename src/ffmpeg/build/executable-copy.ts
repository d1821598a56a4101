import { constants } from 'node:fs';
import { access, chmod, copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';

/**
 * Returns the path of a program that this user may execute: the given one, or a copy in `folder`. npm runs no scripts of packages
 * that nobody allowed, so those of an embedded program may not have made it executable, and it may belong to another user.
 *
 * @throws Error when it cannot be read, or the copy cannot be written
 */
export async function executableCopy(path: string, folder: string | undefined): Promise<string> {
  if (await isExecutable(path)) return path;
  const changed = await chmod(path, 0o755).then(
    () => true,
    () => false,
  );
  if (changed || folder === undefined) return path;
  const { size, mtimeMs } = await stat(path);
  const name = `${basename(path)}-${size}-${Math.round(mtimeMs)}`;
  const copy = join(folder, name);
  if (await isExecutable(copy)) return copy;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Copies of other versions.
  for (const other of await readdir(folder))
    if (other.startsWith(`${basename(path)}-`)) await rm(join(folder, other), { force: true });
  const unfinished = join(folder, `${basename(path)}-${process.pid}`);
  await copyFile(path, unfinished);
  await chmod(unfinished, 0o700);
  await rename(unfinished, copy);
  return copy;
}

function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
