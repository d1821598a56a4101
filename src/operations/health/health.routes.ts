import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import * as z from 'zod';
import { isLocalRequest } from '../../http/listener/client-address.ts';
import { defineRoute, type Route } from '../../http/routing/route.ts';
import { AppError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/logger.ts';
import { type NodeRole, nodeRoles } from '../../shared/node-roles.ts';
import type { Secret } from '../../shared/secret.ts';

interface ReadinessCheck {
  readonly name: string;
  readonly fault: () => string | undefined | Promise<string | undefined>;
  /** Occurs at every start and stop, so it is not logged. */
  readonly isRoutine?: boolean;
}

const liveSchema = z.object({ status: z.literal('live') });
const readySchema = z.object({
  status: z.literal('ready'),
  checks: z.array(z.string()).optional().describe('The checks that ran. Only for the operator.'),
  warnings: z
    .array(z.string())
    .optional()
    .describe('Work that is refused for now, with the reason. Only for the operator.'),
  node: z.string().optional().describe('Id of the server. Only for the operator.'),
  roles: z.array(z.enum(nodeRoles)).optional().describe('What the server does. Only for the operator.'),
});

export interface HealthOptions {
  readonly checks: readonly ReadinessCheck[];
  /** Default: none. */
  readonly warnings?: () => Promise<string[]>;
  /** Default: nothing is told. */
  readonly node?: () => { readonly id: string; readonly roles: readonly NodeRole[] };
  readonly metrics: { readonly contentType: string; text(): Promise<string> };
  readonly token?: Secret;
}

export function healthRoutes(options: HealthOptions & { readonly log: Logger }): Route[] {
  let loggedDetail = '';
  const logChange = (detail: string) => {
    if (detail === loggedDetail) return;
    loggedDetail = detail;
    if (detail === '') options.log.info('ready-again');
    else options.log.warn('not-ready', { detail });
  };
  const isOperator = localOperatorCheck(options.token);

  return [
    defineRoute({
      method: 'GET',
      path: '/health/live',
      tag: 'Operation',
      summary: 'Check that the process runs',
      auth: 'none',
      success: { status: 200, description: 'The process runs.', schema: liveSchema },
      handle: () => ({ status: 'live' as const }),
    }),
    defineRoute({
      method: 'GET',
      path: '/health/ready',
      tag: 'Operation',
      summary: 'Check that the server is ready',
      description:
        "Responds with 503 while the server is not ready. Details are for loopback or the operator's token.",
      auth: 'none',
      success: { status: 200, description: 'The server is ready.', schema: readySchema },
      errors: ['not-ready'],
      handle: async ({ incoming }) => {
        const checks = await Promise.all(
          options.checks.map(async check => ({ ...check, fault: await check.fault() })),
        );
        const faults = checks.filter(check => check.fault !== undefined);
        const isTold = isOperator(incoming);
        const detail = faults.map(({ name, fault }) => `${name}: ${fault}`).join('; ');
        if (!faults.some(({ isRoutine }) => isRoutine)) logChange(detail);
        if (faults.length > 0) {
          throw new AppError('not-ready', detail, { details: isTold ? { detail } : {} });
        }
        const node = isTold ? options.node?.() : undefined;
        const warnings = isTold ? await options.warnings?.() : undefined;
        return {
          status: 'ready' as const,
          ...(isTold ? { checks: checks.map(({ name }) => name) } : {}),
          ...(warnings === undefined || warnings.length === 0 ? {} : { warnings }),
          ...(node === undefined ? {} : { node: node.id, roles: [...node.roles] }),
        };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/metrics',
      tag: 'Operation',
      summary: 'Get metrics in the Prometheus text format',
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

/** Accepts requests of this machine, and those with the operator's token. */
export function localOperatorCheck(token: Secret | undefined): (incoming: IncomingMessage) => boolean {
  return incoming => isLocalRequest(incoming) || isToken(token, bearerOf(incoming));
}

function bearerOf(incoming: IncomingMessage): string | undefined {
  return /^Bearer +(.+)$/i.exec(incoming.headers.authorization ?? '')?.[1];
}

function isToken(expected: Secret | undefined, given: string | undefined): boolean {
  if (expected === undefined || given === undefined) return false;
  const [a, b] = [Buffer.from(expected.reveal()), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
