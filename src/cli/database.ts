import { operatorCommand } from '../shared/installation.ts';
import type { CommandLine } from './command-line.ts';
import { copyCommand } from './copy-command.ts';
import { UsageError } from './usage-error.ts';

const usage = `Usage: ${operatorCommand('database', 'copy [OPTIONS]')}

Copies the SQLite database of a stopped server into an empty PostgreSQL database, in one transaction, and compares all
rows before it commits. The SQLite database and the media are not changed. Then start the server with
MILLRACE_DATABASE_URL and the same data folder.

  --to URL                    postgres://USER:PASSWORD@HOST:5432/DATABASE; by default MILLRACE_DATABASE_URL, which other
                              users of this machine cannot see
  --from PATH                 the data folder of the server; by default that of its settings
  --config PATH, --KEY=VALUE  other settings, as for the server
  --help                      prints this
`;

export const command = copyCommand({
  usage,
  valued: ['to', 'from'],
  interrupted: 'The PostgreSQL database is still empty.',
  copy,
});

async function copy({ values, flags, configFile }: CommandLine, signal: AbortSignal): Promise<void> {
  const { loadServerConfig } = await import('./load-server-config.ts');
  const { resolve } = await import('node:path');
  const { describeUrlProblem, withoutPassword } = await import('../shared/network/postgres-url.ts');
  const { Secret } = await import('../shared/secret.ts');
  const { Progress } = await import('./backup/progress.ts');
  const { copyToPostgres } = await import('../store/postgres/copy-to-postgres.ts');
  const config = loadServerConfig({ flags, configFile, env: process.env });
  const problem = values.to === undefined ? undefined : describeUrlProblem(values.to);
  if (problem !== undefined) throw new UsageError(`--to: ${problem}`);
  const url = values.to === undefined ? config['database.url'] : new Secret(values.to);
  if (url === undefined) throw new UsageError('--to is missing');
  const dataDir = resolve(values.from ?? config.dataDir);
  const target = withoutPassword(url.reveal());
  process.stderr.write(`From: ${dataDir}\nTo: PostgreSQL, ${target}\n`);

  const progress = new Progress(process.stderr);
  const sums = await copyToPostgres({
    dataDir,
    url,
    signal,
    urlSource: values.to === undefined ? 'MILLRACE_DATABASE_URL (or the setting database.url)' : '--to',
    progress: {
      begin: (title, rows) => progress.begin(title, rows, amount => `${amount} rows`),
      add: rows => progress.add(rows),
      end: () => progress.end(),
    },
  });
  const rows = [['TABLE', 'ROWS', 'SHA-256'], ...sums.map(sum => [sum.table, `${sum.rows}`, sum.checksum])];
  const width = Math.max(...rows.map(([table]) => table!.length));
  const countWidth = Math.max(...rows.map(([, count]) => count!.length));
  const lines = rows.map(
    ([table, count, checksum]) => `${table!.padEnd(width)}  ${count!.padStart(countWidth)}  ${checksum}`,
  );
  const total = sums.reduce((sum, one) => sum + one.rows, 0);
  process.stdout.write(`${lines.join('\n')}

Copied ${total} rows of ${sums.length} tables; both databases match.
Start the server with MILLRACE_DATABASE_URL and the data folder ${dataDir}.
Once everything works, move millrace.db out of that folder: a start without MILLRACE_DATABASE_URL would use it.
`);
}
