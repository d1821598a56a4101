import { lstatSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { AppError, messageOf, systemCodeOf } from '../shared/errors.ts';
import { newId } from '../shared/ids.ts';

const nodeIdFile = 'node-id';

interface NodeIdentity {
  readonly id: string;
  /** Differs between a data folder and its copy. */
  readonly place: string;
}

/** Call while holding the folder's lock. Creates the file at the first start. @throws AppError `data-dir-unusable` */
export function readNodeIdentity(dataDir: string): NodeIdentity {
  const path = join(dataDir, nodeIdFile);
  try {
    const id = read(path) ?? create(path);
    const { dev, ino } = lstatSync(path);
    return { id, place: `${hostname()} ${dev}:${ino}` };
  } catch (error) {
    throw new AppError('data-dir-unusable', `The file ${path} cannot be used: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Returns undefined where there is none, or an empty one as after a power failure. */
function read(path: string): string | undefined {
  try {
    const text = readFileSync(path, 'utf8').trim();
    return /^node[0-9A-Za-z]{22}$/.test(text) ? text : undefined;
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function create(path: string): string {
  const id = newId('node');
  writeFileSync(`${path}.new`, `${id}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return id;
}
