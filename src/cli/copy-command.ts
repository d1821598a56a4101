import { unsupportedNodeReason } from '../shared/node-version.ts';
import type { CommandLine } from './command-line.ts';
import { UsageError } from './usage-error.ts';

interface CopyCommand {
  /** Name as in `npm run NAME -- copy`. */
  readonly name: string;
  readonly usage: string;
  /** Options that have a value. */
  readonly valued: readonly string[];
  /** Printed after an interruption. */
  readonly interrupted: string;
  copy(line: CommandLine, signal: AbortSignal): Promise<void>;
}

/** Runs a command that can only copy. */
export async function runCopyCommand({ name, copy, ...command }: CopyCommand): Promise<void> {
  process.umask(0o077);
  // Checked before any file is loaded that an older Node cannot parse.
  const fault = unsupportedNodeReason(process.versions.node);
  if (fault !== undefined) {
    process.stderr.write(
      `${fault} Run it with "npm run ${name}", which uses the Node included with Millrace.\n`,
    );
    process.exitCode = 1;
    return;
  }
  const { runCommand } = await import('./run-command.ts');
  const run = async (line: CommandLine, signal: AbortSignal) => {
    const [word, ...rest] = line.positionals;
    if (word === undefined) throw new UsageError('a command is missing');
    if (word !== 'copy') throw new UsageError(`unknown command ${word}`);
    if (rest.length > 0) throw new UsageError(`unknown argument ${rest[0]}`);
    await copy(line, signal);
  };
  await runCommand({ ...command, options: [], expected: [], run }, process.argv.slice(2));
}
