import { newestServers } from '../../scripts/server-process.ts';
import { createLogger, type Logger } from '../../src/shared/logger.ts';

const maxLines = 30;
const maxLineLength = 400;
const lines: string[] = [];

/** The log of servers inside the test's process: nobody reads it, but a failure shows its end. */
export const keptLog: Logger = await createLogger({
  level: 'info',
  pretty: false,
  sink: {
    write: line => {
      lines.push(line.trimEnd());
      if (lines.length > maxLines) lines.shift();
    },
  },
});

/** Returns the last lines of the servers that were started last, for the message of a failure. */
export function lastServerLines(): string {
  const logs = [
    { name: 'the servers of this process', lines },
    ...newestServers.map(server => ({ name: `the server ${server.child.pid}`, lines: server.lines })),
  ];
  return logs
    .filter(log => log.lines.length > 0)
    .map(({ name, lines: all }) =>
      [`Last lines of ${name}:`, ...all.slice(-maxLines).map(line => line.slice(0, maxLineLength))].join(
        '\n',
      ),
    )
    .join('\n');
}
