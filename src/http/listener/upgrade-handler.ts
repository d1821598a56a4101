import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Handles requests for an upgrade to another protocol at one path. */
export interface UpgradeHandler {
  readonly path: string;
  /** Value of the `Upgrade` header, in lower case. Other values are ignored. */
  readonly protocol: string;
  /**
   * Takes the connection over and responds.
   *
   * @param head bytes that the client sent after its request
   * @throws AppError before any response, which is left to the caller
   */
  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** Returns undefined for an ordinary request. */
export function findUpgradeHandler(
  handlers: readonly UpgradeHandler[],
  request: IncomingMessage,
): UpgradeHandler | undefined {
  if (request.method !== 'GET') return undefined;
  const protocol = request.headers.upgrade?.toLowerCase();
  const url = request.url ?? '/';
  const queryAt = url.indexOf('?');
  const path = queryAt === -1 ? url : url.slice(0, queryAt);
  return handlers.find(handler => handler.path === path && handler.protocol === protocol);
}
