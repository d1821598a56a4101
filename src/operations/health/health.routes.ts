import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { z } from 'zod';
import { isLocalRequest } from '../../http/listener/client-address.ts';
import { defineRoute, type Route } from '../../http/routing/route.ts';
import { AppError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import type { Secret } from '../../shared/secret.ts';

/** A part that must work for the server to be of use. */
export interface ReadinessCheck {
  readonly name: string;
  /** What is wrong, for the operator; undefined when nothing is. */
  readonly fault: () => string | undefined;
  /** Its faults come with every start and stop, and are not logged. */
  readonly isRoutine?: boolean;
}

const liveSchema = z.object({ status: z.literal('live') });
const readySchema = z.object({
  status: z.literal('ready'),
  checks: z.array(z.string()).optional().describe('What was looked at; for the operator only.'),
});

/** What {@link healthRoutes} needs. */
export interface HealthOptions {
  readonly checks: readonly ReadinessCheck[];
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  /** Lets others than this machine's own users see metrics and details. */
  readonly token?: Secret;
}

/** `/health/*` and `/metrics`: what load balancers and operators look at. */
export function healthRoutes(options: HealthOptions & { readonly log: Logger }): Route[] {
  let loggedDetail = '';
  /** Logs faults when they come and go, however often somebody asks. */
  const logChange = (detail: string) => {
    if (detail === loggedDetail) return;
    loggedDetail = detail;
    if (detail === '') options.log.info('usable-again');
    else options.log.warn('not-usable', { detail });
  };
  const isOperator = (incoming: IncomingMessage): boolean =>
    isLocalRequest(incoming) || isToken(options.token, bearerOf(incoming));

  return [
    defineRoute({
      method: 'GET',
      path: '/health/live',
      tag: 'Operation',
      summary: 'Whether the process runs',
      auth: 'none',
      success: { status: 200, description: 'It runs.', schema: liveSchema },
      handle: () => ({ status: 'live' as const }),
    }),
    defineRoute({
      method: 'GET',
      path: '/health/ready',
      tag: 'Operation',
      summary: 'Whether the server can be used',
      description: "Answers 503 while it cannot. Details are for loopback or the operator's token.",
      auth: 'none',
      success: { status: 200, description: 'It can.', schema: readySchema },
      errors: ['not-ready'],
      handle: ({ incoming }) => {
        const checks = options.checks.map(check => ({ ...check, fault: check.fault() }));
        const faults = checks.filter(check => check.fault !== undefined);
        const isTold = isOperator(incoming);
        const detail = faults.map(({ name, fault }) => `${name}: ${fault}`).join('; ');
        if (!faults.some(({ isRoutine }) => isRoutine)) logChange(detail);
        if (faults.length > 0) {
          throw new AppError('not-ready', detail, { details: isTold ? { detail } : {} });
        }
        return { status: 'ready' as const, ...(isTold ? { checks: checks.map(({ name }) => name) } : {}) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/metrics',
      tag: 'Operation',
      summary: "Metrics in Prometheus' text form",
      description: "For loopback or the operator's token, as `Authorization: Bearer <token>`.",
      auth: 'none',
      success: { status: 200, description: 'Metrics.', contentType: options.metrics.contentType },
      errors: ['authorization-loopback-only'],
      handle: ({ incoming }) => {
        if (!isOperator(incoming)) throw new AppError('authorization-loopback-only');
        return options.metrics.text();
      },
    }),
  ];
}

function bearerOf(incoming: IncomingMessage): string | undefined {
  return /^Bearer +(.+)$/i.exec(incoming.headers.authorization ?? '')?.[1];
}

function isToken(expected: Secret | undefined, given: string | undefined): boolean {
  if (expected === undefined || given === undefined) return false;
  const [a, b] = [Buffer.from(expected.reveal()), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
