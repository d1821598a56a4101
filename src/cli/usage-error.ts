/** Wrong words on a command line. The message is followed by where the usage is, and the exit code is 2. */
export class UsageError extends Error {}
