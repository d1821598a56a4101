import { defineRoute, type Route } from '../../http/routing/route.ts';
import { AppError } from '../../shared/errors.ts';
import type { ServerMonitor } from './server-monitor.ts';
import { serverStateSchema } from './server-state.schema.ts';

/** What the route of the server's state is made with. */
export interface ServerStateRoutesOptions {
  readonly monitor: ServerMonitor;
  /** Whether an account is that of whoever runs the server. */
  readonly isOperator: (accountId: string) => boolean;
}

/** `/server`: how the server is, for whoever runs it. */
export function serverStateRoutes({ monitor, isOperator }: ServerStateRoutesOptions): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/server',
      tag: 'Operation',
      summary: 'Get how the server is',
      description:
        "Processor, memory, disk, jobs and broadcasts, with warnings in plain words. For the operator's account only: the one that the " +
        'first start made. The first answer takes a quarter of a second; asked again within a minute, it comes at once.',
      auth: 'key',
      success: { status: 200, description: 'How it is.', schema: serverStateSchema },
      errors: ['authorization-operator-only'],
      handle: ({ caller }) => {
        if (!isOperator(caller.accountId)) throw new AppError('authorization-operator-only');
        return monitor.state();
      },
    }),
  ];
}
