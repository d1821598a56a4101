/** The command line is at fault: the usage is shown, and the exit code is 2. */
export class UsageError extends Error {}
