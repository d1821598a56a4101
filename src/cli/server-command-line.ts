import { isInClone, operatorCommand } from '../shared/installation.ts';
import type { CommandLine } from './command-line.ts';

const usage = `Usage: ${operatorCommand('start', '[--config PATH] [--KEY=VALUE ...]')}

  --config PATH   settings file (or MILLRACE_CONFIG)${isInClone ? '; config/server.json by default' : ''}
  --KEY=VALUE     a setting, such as --http.port=9000; config/reference.md lists all
  --data-dir=PATH the only folder that the server writes to; by default ${isInClone ? './media' : '~/.local/share/millrace'}
  --version       prints the version
  --help          prints this
`;

type ServerCommandLine = Pick<CommandLine, 'flags' | 'configFile'>;

/** Returns the text of `--help` and `--version`. @throws UsageError */
export async function readServerCommandLine(args: readonly string[]): Promise<ServerCommandLine | string> {
  // The table of settings takes a moment to load, and the usual start has no arguments.
  if (args.length === 0) return { flags: {}, configFile: undefined };
  const { readCommandLine } = await import('./command-line.ts');
  const { UsageError } = await import('./usage-error.ts');
  const { positionals, options, flags, configFile } = readCommandLine(args, ['help', 'version']);
  if (options.has('help')) return usage;
  if (options.has('version')) {
    const { default: about } = await import('../../package.json', { with: { type: 'json' } });
    return `${about.version}\n`;
  }
  if (positionals.length > 0) throw new UsageError(`unknown argument ${positionals[0]}`);
  return { flags, configFile };
}
