import type { IncomingMessage } from 'node:http';
import { defineRoute, type Route } from '../../http/routing/route.ts';
import { AppError } from '../../shared/errors.ts';
import { reduceLogLine } from '../../shared/reduce-log-line.ts';
import { checksSchema, recentLogSchema } from './checks.schema.ts';
import type { Checks } from './checks.ts';

interface ChecksRoutesOptions {
  readonly checks: Checks;
  readonly isOperator: (accountId: string) => Promise<boolean>;
  /** Loopback, or the operator's token. */
  readonly isLocalOperator: (incoming: IncomingMessage) => boolean;
  /** The last lines of the log, the oldest first. */
  readonly recentLog: () => readonly string[];
}

const description =
  'Takes some seconds, and writes a test file of 32 MiB. Requests at the same time get the same findings. The checks are those of `millrace doctor`.';

export function checksRoutes(options: ChecksRoutesOptions): Route[] {
  const { checks, isOperator, isLocalOperator, recentLog } = options;
  const success = { status: 200, description: 'The findings.', schema: checksSchema } as const;
  return [
    defineRoute({
      method: 'GET',
      scope: 'admin',
      path: '/server/checks',
      tag: 'Operation',
      summary: 'Check the server',
      description: `${description} Only for the account of the server operator, which the first start creates.`,
      auth: 'key',
      success,
      errors: ['authorization-operator-only'],
      handle: async ({ caller }) => {
        if (!(await isOperator(caller.accountId))) throw new AppError('authorization-operator-only');
        return checks.run();
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/health/checks',
      tag: 'Operation',
      summary: 'Check the server, on its own machine',
      description: `${description} For loopback or the operator's token, as \`Authorization: Bearer <token>\`.`,
      auth: 'none',
      success,
      errors: ['authorization-loopback-only'],
      handle: ({ incoming }) => {
        if (!isLocalOperator(incoming)) throw new AppError('authorization-loopback-only');
        return checks.run();
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/health/log',
      tag: 'Operation',
      summary: 'Get the last log lines, on the machine of the server',
      description:
        "The last lines since the start, at most 1,000, as `millrace doctor --bundle` needs them: time, level, component, event, and known numbers and error codes, without texts. For loopback or the operator's token, as `Authorization: Bearer <token>`.",
      auth: 'none',
      success: { status: 200, description: 'The lines.', schema: recentLogSchema },
      errors: ['authorization-loopback-only'],
      handle: ({ incoming }) => {
        if (!isLocalOperator(incoming)) throw new AppError('authorization-loopback-only');
        const lines = recentLog().flatMap(line => reduceLogLine(line) ?? []);
        return { lines: lines.map(line => JSON.stringify(line)) };
      },
    }),
  ];
}
