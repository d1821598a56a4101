import { operatorCommand } from '../shared/installation.ts';
import { type BackupContents, BackupError } from './backup/archive-format.ts';
import type { CommandLine } from './command-line.ts';
import type { Command } from './run-command.ts';
import { UsageError } from './usage-error.ts';

const usage = `Usage: ${operatorCommand('restore', 'FILE [OPTIONS]')}

Restores a backup into an empty data folder and verifies the checksums of all files. Then start the server as usual.
If the database is PostgreSQL, restore it with pg_restore: a backup of such a server has the media only.
If the media is in a bucket, restore it with the tools of your storage provider: a backup of such a server has the database only.

  FILE                        a backup of "${operatorCommand('backup')}"; "-" reads standard input
  --check                     only verifies the checksums of the backup
  --dataDir=PATH              the data folder, which must be empty; by default that of the server's settings
  --config PATH, --KEY=VALUE  other settings, as for the server
  --help                      prints this
`;

export const command: Command = { usage, options: ['check'], expected: [BackupError], run: restore };

async function restore(
  { positionals, options, flags, configFile }: CommandLine,
  signal: AbortSignal,
): Promise<void> {
  const { createReadStream, statSync } = await import('node:fs');
  const { resolve } = await import('node:path');
  const { addAbortSignal } = await import('node:stream');
  const [file, ...rest] = positionals;
  if (file === undefined || file === '') throw new UsageError('FILE is missing');
  if (rest.length > 0) throw new UsageError(`unknown argument ${rest[0]}`);
  const found = file === '-' ? undefined : statSync(file, { throwIfNoEntry: false });
  if (file !== '-' && (found === undefined || found.isDirectory())) {
    throw new BackupError(
      `The file ${resolve(file)} does not exist. Use a file written by "${operatorCommand('backup')}".`,
    );
  }
  const from = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: 1024 * 1024 });
  // Aborts waiting for input, too.
  addAbortSignal(signal, from);
  try {
    process.stdout.write(await report(from, options.has('check'), { flags, configFile, signal }));
  } finally {
    // Open standard input would keep the process alive.
    from.destroy();
  }
}

function nextStep(
  contents: BackupContents,
  { usesPostgres, usesBucket }: { readonly usesPostgres: boolean; readonly usesBucket: boolean },
): string {
  if (contents === 'media')
    return 'The backup contains no database, because it was PostgreSQL. Restore it with pg_restore, then start the server with MILLRACE_DATABASE_URL.';
  const steps = [
    ...(contents === 'database'
      ? [
          usesBucket
            ? 'The backup contains only the database. The settings refer to a bucket, which was not changed: it must have the media.'
            : 'The backup contains only the database: copy the media into the data folder before you start the server.',
        ]
      : []),
    ...(contents === 'all' && usesBucket
      ? [
          `The settings refer to a bucket, which was not changed. To copy the restored media to it, run: ${operatorCommand('storage', 'copy')}.`,
        ]
      : []),
    ...(usesPostgres
      ? [
          `The settings refer to a PostgreSQL database, which was not changed. To copy the restored data to an empty one, run: ${operatorCommand('database', 'copy')}.`,
        ]
      : []),
  ];
  return steps.length > 0 ? steps.join('\n') : 'Start the server as usual.';
}

async function report(
  from: AsyncIterable<Buffer>,
  isCheck: boolean,
  { flags, configFile, signal }: Pick<CommandLine, 'flags' | 'configFile'> & { signal: AbortSignal },
): Promise<string> {
  const { resolve } = await import('node:path');
  const { loadServerConfig } = await import('./load-server-config.ts');
  const { Progress, sizeText } = await import('./backup/progress.ts');
  const { checkBackup, restoreBackup } = await import('./backup/restore-backup.ts');
  const progress = new Progress(process.stderr);
  if (isCheck) {
    const { createdAt, files, bytes } = await checkBackup({ from, progress, signal });
    return `The backup of ${createdAt} is intact: ${files} files, ${sizeText(bytes)}.\n`;
  }
  const config = loadServerConfig({ flags, configFile, env: process.env });
  const dataDir = resolve(config.dataDir);
  const restored = await restoreBackup({ from, dataDir, progress, signal });
  const next = nextStep(restored.contents, {
    usesPostgres: config['database.url'] !== undefined,
    usesBucket: config['storage.url'] !== undefined,
  });
  return `Restored ${restored.files} files, ${sizeText(restored.bytes)}, of the backup of ${restored.createdAt} to ${dataDir}.\n${next}\n`;
}
