import { AppError, messageOf, systemCodeOf } from '../shared/errors.ts';
import { operatorCommand } from '../shared/installation.ts';
import { UsageError } from './usage-error.ts';

interface FailedCommand {
  readonly name: string;
  /** Precedes the message of an unexpected error. */
  readonly title: string;
  /** Errors whose message says all. */
  readonly expected?: readonly (new (
    ...args: never[]
  ) => Error)[];
}

/** Prints why a command failed, and sets the exit code: 2 for a wrong command line or setting, else 1. */
export function reportFailure(error: unknown, { name, title, expected = [] }: FailedCommand): void {
  const isUsage = error instanceof UsageError;
  process.exitCode = isUsage || (error instanceof AppError && error.code === 'config-invalid') ? 2 : 1;
  if (isUsage) {
    printError(`${error.message.replace(/\.$/, '')}. See "${operatorCommand(name, '--help')}".`);
  } else if (
    (error instanceof AppError && error.kind !== 'internal') ||
    expected.some(kind => error instanceof kind)
  ) {
    printError((error as Error).message);
  } else {
    // The message of a system error is sufficient.
    const stack = error instanceof Error && systemCodeOf(error) === undefined ? error.stack : '';
    printError(`${title}: ${messageOf(error)}\n${stack}`);
  }
}

export function printError(message: string): void {
  process.stderr.write(`${message.trimEnd()}\n`);
}
