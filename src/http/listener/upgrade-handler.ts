import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

/** Takes connections over that ask for another protocol than HTTP under one path. */
export interface UpgradeHandler {
  readonly path: string;
  /** Value of the `Upgrade` header, in lower case. Requests for others are answered as if they had not asked. */
  readonly protocol: string;
  /**
   * Takes the connection over and answers the request.
   *
   * @param head what the client sent already after its request
   * @throws AppError before anything was answered; whoever calls answers then
   */
  handle(request: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/** The door that a request asks for; undefined when it is an ordinary request. */
export function findUpgradeHandler(
  doors: readonly UpgradeHandler[],
  request: IncomingMessage,
): UpgradeHandler | undefined {
  if (request.method !== 'GET') return undefined;
  const protocol = request.headers.upgrade?.toLowerCase();
  const url = request.url ?? '/';
  const queryAt = url.indexOf('?');
  const path = queryAt === -1 ? url : url.slice(0, queryAt);
  return doors.find(door => door.path === path && door.protocol === protocol);
}
