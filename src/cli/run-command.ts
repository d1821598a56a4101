import { type CommandLine, readCommandLine } from './command-line.ts';
import { printError, reportFailure } from './report-failure.ts';

export interface Command {
  readonly usage: string;
  readonly options: readonly string[];
  /** Options that have a value. */
  readonly valued?: readonly string[];
  /** Printed after an interruption; by default says that files were removed. */
  readonly interrupted?: string;
  readonly expected: readonly (new (...args: never[]) => Error)[];
  /** SIGINT, SIGTERM and SIGHUP abort `signal`; the command then cleans up and rejects. */
  run(line: CommandLine, signal: AbortSignal): Promise<void>;
}

const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Sets the exit code: 0, 1 for an error, 2 for wrong usage, above 128 after a signal. */
export async function runCommand(name: string, command: Command, args: readonly string[]): Promise<void> {
  const interruption = new AbortController();
  let caught: keyof typeof exitCodes | undefined;
  const listeners = (Object.keys(exitCodes) as (keyof typeof exitCodes)[]).map(signal => {
    const listener = () => {
      caught ??= signal;
      interruption.abort(new Error(`Interrupted by ${signal}`));
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  // A closed terminal must not prevent the cleanup.
  process.stderr.on('error', () => {});
  try {
    const line = readCommandLine(args, ['help', ...command.options], command.valued);
    if (line.options.has('help')) process.stdout.write(command.usage);
    else await command.run(line, interruption.signal);
  } catch (error) {
    if (caught !== undefined) {
      process.exitCode = exitCodes[caught];
      printError(`Interrupted. ${command.interrupted ?? 'Incomplete files were removed.'}`);
    } else {
      reportFailure(error, { name, title: 'The command failed', expected: command.expected });
    }
  } finally {
    for (const remove of listeners) remove();
  }
}
