import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { withoutBasePath } from '../../shared/network/base-path.ts';

export interface UpgradeHandler {
  readonly path: string;
  /** `Upgrade` header in lower case. */
  readonly protocol: string;
  /** @param head bytes after the request @throws AppError before any response; the caller sends it */
  handle(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>;
}

export function findUpgradeHandler(
  handlers: readonly UpgradeHandler[],
  request: IncomingMessage,
  basePath: string,
): UpgradeHandler | undefined {
  if (request.method !== 'GET') return undefined;
  const protocol = request.headers.upgrade?.toLowerCase();
  const url = withoutBasePath(request.url ?? '/', basePath);
  const queryAt = url.indexOf('?');
  const path = queryAt === -1 ? url : url.slice(0, queryAt);
  return handlers.find(handler => handler.path === path && handler.protocol === protocol);
}
