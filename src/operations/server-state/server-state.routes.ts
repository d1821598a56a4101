import { defineRoute, type Route } from '../../http/routing/route.ts';
import { AppError } from '../../shared/errors.ts';
import type { ServerMonitor } from './server-monitor.ts';
import { serverStateSchema } from './server-state.schema.ts';

interface ServerStateRoutesOptions {
  readonly monitor: ServerMonitor;
  readonly isOperator: (accountId: string) => Promise<boolean>;
}

export function serverStateRoutes({ monitor, isOperator }: ServerStateRoutesOptions): Route[] {
  return [
    defineRoute({
      method: 'GET',
      scope: 'admin',
      path: '/server',
      tag: 'Operation',
      summary: 'Get the state of the server',
      description:
        'Processor, memory, disk, jobs and broadcasts, with warnings. Only for the account of the server operator, which the first start ' +
        'creates. The first response takes a quarter of a second, further ones within a minute are immediate.',
      auth: 'key',
      success: { status: 200, description: 'The state.', schema: serverStateSchema },
      errors: ['authorization-operator-only'],
      handle: async ({ caller }) => {
        if (!(await isOperator(caller.accountId))) throw new AppError('authorization-operator-only');
        return monitor.state();
      },
    }),
  ];
}
