import type { Command } from './run-command.ts';
import { UsageError } from './usage-error.ts';

export const command: Command = {
  usage: 'Usage: millrace version\n\nPrints the version.\n',
  options: [],
  expected: [],
  run: async ({ positionals }) => {
    if (positionals.length > 0) throw new UsageError(`unknown argument ${positionals[0]}`);
    const { default: about } = await import('../../package.json', { with: { type: 'json' } });
    process.stdout.write(`${about.version}\n`);
  },
};
