import { operatorCommand } from '../shared/installation.ts';
import type { CommandLine } from './command-line.ts';
import { copyCommand } from './copy-command.ts';
import { UsageError } from './usage-error.ts';

const usage = `Usage: ${operatorCommand('storage', 'copy [OPTIONS]')}

Copies the media of a stopped server from its data folder into a bucket, or back, and compares all bytes. Run it again
after an interruption: it continues. Stop all servers that use the bucket first.

  --to URL                    s3://KEY:SECRET@BUCKET/PREFIX?endpoint=https://HOST; by default MILLRACE_STORAGE_URL, which
                              other users of this machine cannot see. The copied files are then moved to moved-to-s3/ in
                              the data folder
  --to data-folder            from the bucket of MILLRACE_STORAGE_URL into the data folder; the bucket is not changed
  --dataDir=PATH              the data folder of the server; by default that of its settings
  --config PATH, --KEY=VALUE  other settings, as for the server
  --help                      prints this
`;

const dataFolder = 'data-folder';

export const command = copyCommand({
  usage,
  valued: ['to'],
  interrupted: 'Run the command again to continue.',
  copy,
});

async function copy({ values, flags, configFile }: CommandLine, signal: AbortSignal): Promise<void> {
  const { loadServerConfig } = await import('./load-server-config.ts');
  const { resolve } = await import('node:path');
  const { describeS3Location, describeS3UrlProblem } = await import('../shared/network/s3-url.ts');
  const { Secret } = await import('../shared/secret.ts');
  const { silentLogger } = await import('../shared/logger.ts');
  const { DataFolderLock } = await import('../store/data-folder-lock.ts');
  const { connectS3 } = await import('../storage/s3/open-s3-storage.ts');
  const config = loadServerConfig({ flags, configFile, env: process.env });
  const isBack = values.to === dataFolder;
  const target = isBack ? undefined : values.to;
  const problem = target === undefined ? undefined : describeS3UrlProblem(target);
  if (problem !== undefined) throw new UsageError(`--to: ${problem}`);
  const url = target === undefined ? config['storage.url'] : new Secret(target);
  if (url === undefined) throw new UsageError(isBack ? 'MILLRACE_STORAGE_URL is missing' : '--to is missing');
  const dataDir = resolve(config.dataDir);

  const lock = DataFolderLock.acquire(dataDir);
  try {
    const { objects, location } = await connectS3({ url, log: silentLogger });
    try {
      const bucket = describeS3Location(location);
      const [from, to] = isBack ? [bucket, dataDir] : [dataDir, bucket];
      process.stderr.write(`From: ${from}\nTo: ${to}\n`);
      await copyAndReport({ isBack, dataDir, objects, prefix: location.prefix, signal });
    } finally {
      objects.stop();
    }
  } finally {
    lock.release();
  }
}

async function copyAndReport(options: {
  readonly isBack: boolean;
  readonly dataDir: string;
  readonly objects: import('../storage/s3/s3-objects.ts').S3Objects;
  readonly prefix: string;
  readonly signal: AbortSignal;
}): Promise<void> {
  const { Progress, sizeText } = await import('./backup/progress.ts');
  const { copyFromBucket } = await import('../storage/s3/copy-from-bucket.ts');
  const { copyToBucket, movedFolder } = await import('../storage/s3/copy-to-bucket.ts');
  const { isBack, dataDir } = options;
  const progress = new Progress(process.stderr);
  const folders = await (isBack ? copyFromBucket : copyToBucket)({ ...options, progress });
  const rows = [
    ['FOLDER', 'FILES', 'SIZE'],
    ...folders.map(({ folder, files, bytes }) => [folder, `${files}`, sizeText(bytes)]),
  ];
  const width = (column: number) => Math.max(...rows.map(row => row[column]!.length));
  const lines = rows.map(
    ([folder, files, size]) =>
      `${folder!.padEnd(width(0))}  ${files!.padStart(width(1))}  ${size!.padStart(width(2))}`,
  );
  const count = folders.reduce((sum, { files }) => sum + files, 0);
  const advice = isBack
    ? `Start the server with the data folder ${dataDir} and without MILLRACE_STORAGE_URL. The bucket was not changed.`
    : `Start the server with MILLRACE_STORAGE_URL. The local files are now in ${dataDir}/${movedFolder}: delete that folder once everything works.`;
  process.stdout.write(`${lines.join('\n')}\n\nCopied ${count} files, and compared all bytes.\n${advice}\n`);
}
