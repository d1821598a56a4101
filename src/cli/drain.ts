import { operatorCommand } from '../shared/installation.ts';
import type { CommandLine } from './command-line.ts';
import type { Command } from './run-command.ts';
import { UsageError } from './usage-error.ts';

const usage = `Usage: ${operatorCommand('drain', '[OPTIONS]')}

Empties a server on this machine before you stop it: it accepts no new publishers and jobs, its broadcasts move to other
servers of the same database, and its running jobs end. The command ends when nothing is left. The server still answers
viewers and the API; /health/ready responds with 503. To use the server again, restart it.

  --dataDir=PATH              the data folder of the server, where several run
  --config PATH, --KEY=VALUE  other settings, as for the server
  --help                      prints this
`;

const pollMs = 500;

export const command: Command = {
  usage,
  options: [],
  expected: [],
  interrupted: 'The server continues to drain.',
  run: drain,
};

async function drain({ positionals, flags, configFile }: CommandLine, signal: AbortSignal): Promise<void> {
  if (positionals.length > 0) throw new UsageError(`unknown argument ${positionals[0]}`);
  const { findDataDir } = await import('./command-data-dir.ts');
  const { RunningServers } = await import('../store/running-servers.ts');
  const { AppError } = await import('../shared/errors.ts');
  const { setTimeout: sleep } = await import('node:timers/promises');
  const { dataDir } = findDataDir({ flags, configFile, env: process.env });
  const server = new RunningServers().list().find(one => one.dataDir === dataDir);
  if (server?.httpPort === undefined) {
    throw new AppError('data-dir-unusable', `No server runs on the data folder ${dataDir}.`);
  }
  process.kill(server.pid, 'SIGUSR2');
  let shown = '';
  for (;;) {
    const state = await readState(server.httpPort, signal);
    if (state !== undefined && state !== shown) process.stderr.write(`${state}\n`);
    shown = state ?? shown;
    if (shown.endsWith('drained')) break;
    await sleep(pollMs, undefined, { signal });
  }
  process.stdout.write(`The server at ${server.publicUrl} is empty. Stop it with: kill ${server.pid}\n`);
}

/** Returns undefined before the server has begun. */
async function readState(port: number, signal: AbortSignal): Promise<string | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}/health/ready`, { signal });
  const { detail = '' } = (await response.json()) as { readonly detail?: string };
  return /node: (the server is drain[^;]*)/.exec(detail)?.[1];
}
