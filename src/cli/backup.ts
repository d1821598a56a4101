import { isInClone, operatorCommand } from '../shared/installation.ts';
import { BackupError } from './backup/archive-format.ts';
import type { CommandLine } from './command-line.ts';
import type { Command } from './run-command.ts';
import { UsageError } from './usage-error.ts';

const usage = `Usage: ${operatorCommand('backup', 'FILE [OPTIONS]')}

Writes the database and all media into one tar archive, also while the server runs. Restore it with "${operatorCommand('restore')}".
If the database is PostgreSQL, the archive has the media only: back up the database with pg_dump first.
If the media is in a bucket, the archive has the database only: protect the bucket with versioning or replication.

  FILE                        a new file outside the data folder; "-" writes to standard output${isInClone ? ' (then "npm run -s backup -- -")' : ''}
  --force                     replaces FILE if it exists
  --database-only             excludes media and images
  --dataDir=PATH              the data folder; by default that of the running server (or MILLRACE_DATA_DIR)
  --config PATH, --KEY=VALUE  other settings, as for the server
  --help                      prints this
`;

const dumpAdvice =
  'Back it up before the media: pg_dump --format=custom --file=FILE "$MILLRACE_DATABASE_URL"';

const bucketAdvice =
  'Protect the media in the bucket with versioning or replication, for at least as long as you keep your backups.';

export const command: Command = {
  usage,
  options: ['force', 'database-only'],
  expected: [BackupError],
  run: backUp,
};

async function backUp(
  { positionals, options, flags, configFile }: CommandLine,
  signal: AbortSignal,
): Promise<void> {
  const { resolve } = await import('node:path');
  const { findDataDir } = await import('./command-data-dir.ts');
  const { createBackup } = await import('./backup/create-backup.ts');
  const { Progress, sizeText } = await import('./backup/progress.ts');
  const { default: about } = await import('../../package.json', { with: { type: 'json' } });
  const [file, ...rest] = positionals;
  if (file === undefined || file === '') throw new UsageError('FILE is missing');
  if (rest.length > 0) throw new UsageError(`unknown argument ${rest[0]}`);
  if (file === '-') checkStandardOutput();
  await lowerPriority();
  const { dataDir, databaseUrl, storageUrl, line } = findDataDir({ flags, configFile, env: process.env });
  process.stderr.write(`${line}\n`);
  if (databaseUrl !== undefined && options.has('database-only'))
    throw new BackupError(`The database is PostgreSQL. ${dumpAdvice}`);
  if (databaseUrl !== undefined && storageUrl !== undefined) {
    throw new BackupError(
      `There is nothing to back up here: the database is PostgreSQL, and the media is in a bucket. ${dumpAdvice}\n${bucketAdvice}`,
    );
  }
  const isDatabaseOnly = options.has('database-only') || storageUrl !== undefined;
  const report = await createBackup({
    dataDir,
    to: file === '-' ? process.stdout : resolve(file),
    isForced: options.has('force'),
    contents: databaseUrl !== undefined ? 'media' : isDatabaseOnly ? 'database' : 'all',
    version: about.version,
    progress: new Progress(process.stderr),
    signal,
    findMissing: findLost,
  });
  for (const warning of report.warnings) process.stderr.write(`Warning: ${warning}\n`);
  if (databaseUrl !== undefined)
    process.stderr.write(`This backup has the media only: the database is PostgreSQL. ${dumpAdvice}\n`);
  if (storageUrl !== undefined)
    process.stderr.write(`This backup has the database only: the media is in a bucket. ${bucketAdvice}\n`);
  const to = file === '-' ? 'standard output' : resolve(file);
  process.stderr.write(`Backed up ${report.files} files, ${sizeText(report.bytes)}, to ${to}.\n`);
}

/** Refuses a terminal, and standard output that npm has written to. */
function checkStandardOutput(): void {
  if (process.stdout.isTTY)
    throw new UsageError('"-" writes to standard output, which is a terminal: add "> FILE"');
  const isNpmTalking =
    process.env.npm_lifecycle_event === 'backup' && process.env.npm_config_loglevel !== 'silent';
  if (isNpmTalking)
    throw new UsageError('npm would write its own output into the archive: use "npm run -s backup -- -"');
}

async function lowerPriority(): Promise<void> {
  const { constants, setPriority } = await import('node:os');
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
}

/** Files that the sweep of a restored server would report as missing. */
async function findLost(databaseFolder: string, filesFolder: string): Promise<string[]> {
  const { AppError } = await import('../shared/errors.ts');
  const { openDatabaseWithoutLock } = await import('../store/open-database.ts');
  const { MediaFiles } = await import('../storage/media-files.ts');
  const { SweepStore } = await import('../operations/housekeeping/sweep.store.ts');
  const { countMissing } = await import('../operations/housekeeping/sweep.ts');
  let database: import('../store/database.ts').Database;
  try {
    database = await openDatabaseWithoutLock({ dataDir: databaseFolder });
  } catch (error) {
    // The server migrates an older database, which cannot be checked, after a restore.
    if (error instanceof AppError && error.code === 'database-unusable') return [];
    throw error;
  }
  try {
    const { videos, images } = await countMissing(new SweepStore(database), new MediaFiles(filesFolder));
    return [...(videos > 0 ? [`${videos} videos`] : []), ...(images > 0 ? [`${images} images`] : [])];
  } finally {
    await database.stop();
  }
}
