import type { Command } from './cli/run-command.ts';

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

const start = 'start';
const commands: Readonly<Record<string, Entry>> = {
  account: {
    summary: 'creates and changes accounts, keys and passwords',
    load: () => import('./cli/account.ts'),
  },
  backup: {
    summary: 'writes the database and the media into one file',
    load: () => import('./cli/backup.ts'),
  },
  restore: { summary: 'restores a backup', load: () => import('./cli/restore.ts') },
  database: { summary: 'copies the database into PostgreSQL', load: () => import('./cli/database.ts') },
  storage: { summary: 'copies the media into a bucket, or back', load: () => import('./cli/storage.ts') },
  drain: { summary: 'empties a server before it is stopped', load: () => import('./cli/drain.ts') },
  doctor: {
    summary: 'checks the server, and its address from another machine',
    load: () => import('./cli/doctor.ts'),
  },
  version: { summary: 'prints the version', load: () => import('./cli/version.ts') },
};

// Media, uploads and the database are readable by the server's user only.
process.umask(0o077);
await run(process.argv.slice(2));

async function run([name = start, ...args]: readonly string[]): Promise<void> {
  if (name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(usage());
    return;
  }
  if (name === start || name.startsWith('-')) {
    const { startServer } = await import('./cli/start.ts');
    await startServer(name === start ? args : [name, ...args]);
    return;
  }
  if (!Object.hasOwn(commands, name)) {
    process.stderr.write(`unknown command ${name}. See "millrace --help".\n`);
    process.exitCode = 2;
    return;
  }
  const { command } = await commands[name]!.load();
  const { runCommand } = await import('./cli/run-command.ts');
  await runCommand(name, command, args);
}

function usage(): string {
  const lines = Object.entries({
    [start]: { summary: 'starts the server, as without a command' },
    ...commands,
  }).map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`);
  return `Usage: millrace [COMMAND] [OPTIONS]\n\n${lines.join('\n')}\n\n"millrace COMMAND --help" describes a command.\n`;
}
