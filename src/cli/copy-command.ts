import type { CommandLine } from './command-line.ts';
import type { Command } from './run-command.ts';
import { UsageError } from './usage-error.ts';

interface CopyCommand extends Pick<Command, 'usage' | 'valued' | 'interrupted'> {
  copy(line: CommandLine, signal: AbortSignal): Promise<void>;
}

/** A command that can only copy. */
export function copyCommand({ copy, ...command }: CopyCommand): Command {
  return {
    ...command,
    options: [],
    expected: [],
    run: async (line, signal) => {
      const [word, ...rest] = line.positionals;
      if (word === undefined) throw new UsageError('a command is missing');
      if (word !== 'copy') throw new UsageError(`unknown command ${word}`);
      if (rest.length > 0) throw new UsageError(`unknown argument ${rest[0]}`);
      await copy(line, signal);
    },
  };
}
