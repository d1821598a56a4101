import { createWriteStream, existsSync, mkdirSync, realpathSync, statfsSync, statSync } from 'node:fs';
import { rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isDiskFull } from '../../shared/files/disk-error.ts';
import { newUuid } from '../../shared/ids.ts';
import { syncFolderOf } from '../../storage/media-files.ts';
import { copyDatabase } from '../../store/database-copy.ts';
import { publishNew } from '../publish-new.ts';
import {
  type BackupContents,
  BackupError,
  descriptionName,
  formatVersion,
  sumsName,
} from './archive-format.ts';
import { writeArchive } from './archive-writer.ts';
import { type DataFile, databaseName, snapshotPrefix } from './data-files.ts';
import { acquireBackupLock, FileSnapshot, removeStaleSnapshots } from './file-snapshot.ts';
import type { Progress } from './progress.ts';

interface BackupOptions {
  readonly dataDir: string;
  readonly to: string | Writable;
  readonly isForced: boolean;
  readonly contents: BackupContents;
  readonly version: string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
  /** `folder` holds only the database copy, `filesFolder` has the layout of a data folder. */
  readonly findMissing: (folder: string, filesFolder: string) => Promise<readonly string[]>;
}

interface BackupReport {
  readonly files: number;
  readonly bytes: number;
  readonly warnings: readonly string[];
}

interface Survey {
  readonly files: number;
  readonly bytes: number;
}

const maxCopies = 3;
const maxWarningNames = 10;
const maxChangedNames = 1_000;

/** @throws BackupError with a sentence for the operator; the signal's reason when aborted */
export async function createBackup(options: BackupOptions): Promise<BackupReport> {
  const { dataDir, to } = options;
  const workFolder =
    typeof to === 'string' ? `${to}.partial` : join(dataDir, `${snapshotPrefix}${newUuid()}`);
  if (!existsSync(options.contents === 'media' ? dataDir : join(dataDir, databaseName))) {
    throw new BackupError(
      options.contents === 'media'
        ? `The data folder ${dataDir} does not exist. Set it with --dataDir=PATH.`
        : `There is no database in ${dataDir}. Set the data folder of the server with --dataDir=PATH.`,
    );
  }
  if (typeof to === 'string') checkTarget(to, dataDir, options.isForced);
  await removeStaleSnapshots(dataDir);
  const lock = acquireBackupLock(dataDir);
  const snapshot = new FileSnapshot(dataDir, options.signal);
  try {
    // Left by a killed backup to the same file.
    await rm(workFolder, { recursive: true, force: true });
    mkdirSync(workFolder, { mode: 0o700 });
    return await backUp(options, snapshot, workFolder);
  } catch (error) {
    throw isDiskFull(error)
      ? new BackupError(`The disk is full: no backup was written. ${roomAdvice}`)
      : error;
  } finally {
    await snapshot.remove();
    await rm(workFolder, { recursive: true, force: true, maxRetries: 3 });
    lock.release();
  }
}

async function backUp(
  options: BackupOptions,
  snapshot: FileSnapshot,
  workFolder: string,
): Promise<BackupReport> {
  const { to, progress, signal, contents } = options;
  const databaseFolder = join(workFolder, 'database');
  mkdirSync(databaseFolder, { mode: 0o700 });
  const database: DataFile = { name: databaseName, path: join(databaseFolder, databaseName) };
  const warnings: string[] = [];
  if (contents === 'database') await copyDatabase(options.dataDir, database.path);
  else if (contents === 'media') {
    await snapshot.take();
    warnings.push(...warningsOf(snapshot));
  } else warnings.push(...(await freeze(options, snapshot, database.path)));
  signal.throwIfAborted();

  const databases = contents === 'media' ? [] : [database];
  const media = contents === 'database' ? undefined : snapshot;
  const survey = await surveyOf(filesOf(databases, media));
  if (typeof to === 'string') checkRoom(to, survey);
  const description: DataFile = { name: descriptionName, path: join(workFolder, descriptionName) };
  await writeFile(description.path, describe(options, survey));
  const changed: string[] = [];
  let bytes = 0;
  let files = 0;
  progress.begin('Backing up', survey.bytes);
  const archive = writeArchive(filesOf([description, ...databases], media), join(workFolder, 'sums'), {
    bytesWritten: more => {
      bytes += more;
      progress.add(more);
    },
    fileWritten: name => {
      if (name !== descriptionName && name !== sumsName) files += 1;
    },
    fileChanged: name => {
      if (changed.length < maxChangedNames) changed.push(name);
    },
  });
  if (typeof to === 'string') await writeTo(to, archive, workFolder, options);
  else await pipeline(archive, to, { signal, end: false });
  progress.end();
  if (changed.length > 0)
    warnings.push(`These files were deleted or truncated while they were read: ${shorten(changed)}.`);
  return { files, bytes, warnings };
}

/**
 * Links all files, copies the database, and links files that were added meanwhile, so that every file of the
 * copy has a link. Only files created and deleted in between can be missing; the next copy of the database
 * does not contain them. Returns warnings.
 */
async function freeze(
  options: BackupOptions,
  snapshot: FileSnapshot,
  databasePath: string,
): Promise<string[]> {
  const { dataDir, signal, findMissing } = options;
  await snapshot.take();
  let lost: readonly string[] = [];
  for (let copies = 1; ; copies += 1) {
    signal.throwIfAborted();
    await rm(databasePath, { force: true });
    await copyDatabase(dataDir, databasePath);
    await snapshot.take();
    const before = lost.join();
    lost = await findMissing(dirname(databasePath), snapshot.root);
    // Files that were missing before will stay missing.
    if (lost.length === 0 || lost.join() === before || copies === maxCopies) break;
  }
  return [
    ...(lost.length === 0
      ? []
      : [
          `The database refers to files that are not in the data folder. Check that all disks are mounted. Files are missing for ${shorten(lost)}.`,
        ]),
    ...warningsOf(snapshot),
  ];
}

function warningsOf(snapshot: FileSnapshot): string[] {
  const { count, names } = snapshot.skipped;
  return [
    ...(snapshot.hasLinks
      ? []
      : [
          'The data folder does not support hard links. The backup may lack files that are deleted while it runs.',
        ]),
    ...(count === 0
      ? []
      : [
          `${count} entries of the data folder are neither files nor folders, and are not in the backup: ${shorten(names, count)}.`,
        ]),
  ];
}

async function writeTo(
  path: string,
  archive: AsyncIterable<Buffer>,
  workFolder: string,
  { isForced, signal }: BackupOptions,
): Promise<void> {
  const partial = join(workFolder, 'archive');
  await pipeline(archive, createWriteStream(partial, { flags: 'wx', mode: 0o600, flush: true }), { signal });
  if (isForced) await rename(partial, path);
  else if (!(await publishNew(partial, path))) throw new BackupError(existsMessage(path));
  await syncFolderOf(path);
}

async function* filesOf(
  first: readonly DataFile[],
  snapshot: FileSnapshot | undefined,
): AsyncGenerator<DataFile> {
  yield* first;
  if (snapshot !== undefined) yield* snapshot.files();
}

async function surveyOf(files: AsyncIterable<DataFile>): Promise<Survey> {
  const survey = { files: 0, bytes: 0 };
  for await (const { path } of files) {
    const info = await stat(path).catch(() => undefined);
    if (info === undefined) continue;
    survey.files += 1;
    survey.bytes += info.size;
  }
  return survey;
}

function describe({ version, contents }: BackupOptions, { files, bytes }: Survey): string {
  const description = {
    format: formatVersion,
    version,
    createdAt: new Date().toISOString(),
    isDatabaseOnly: contents === 'database',
    ...(contents === 'media' ? { isMediaOnly: true } : {}),
    files,
    bytes,
  };
  return `${JSON.stringify(description, undefined, 2)}\n`;
}

function checkTarget(path: string, dataDir: string, isForced: boolean): void {
  const folder = dirname(path);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new BackupError(`${path} is a folder. Enter the path of a file in it.`);
  }
  if (!existsSync(folder)) throw new BackupError(`The folder ${folder} does not exist. Create it first.`);
  const inside = join(realpathSync(folder), basename(path));
  if (existsSync(dataDir) && inside.startsWith(resolve(realpathSync(dataDir)) + sep)) {
    throw new BackupError(
      `${path} is in the data folder and would be lost with it. Choose a file elsewhere, preferably on another disk.`,
    );
  }
  if (!isForced && existsSync(path)) throw new BackupError(existsMessage(path));
}

function existsMessage(path: string): string {
  return `The file ${path} already exists. Choose another name, or overwrite it with --force.`;
}

function checkRoom(path: string, { files, bytes }: Survey): void {
  const { bavail, bsize } = statfsSync(dirname(path));
  const needed = bytes + files * 1024;
  if (bavail * bsize >= needed) return;
  throw new BackupError(
    `The backup needs ${megabytes(needed)} MB, but only ${megabytes(bavail * bsize)} MB are free in ${dirname(path)}. ${roomAdvice}`,
  );
}

const roomAdvice = 'Free some space, or write the backup to another disk.';

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 1e6);
}

function shorten(names: readonly string[], count = names.length): string {
  const shown = names.slice(0, maxWarningNames).join(', ');
  return count > maxWarningNames ? `${shown} and ${count - maxWarningNames} more` : shown;
}
