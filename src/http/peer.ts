import type { IncomingMessage } from 'node:http';

const proxyHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'] as const;

/**
 * Whether a request was made on this machine by its operator. One that a proxy on the same machine passed on was not, nor one
 * that a web page made in a browser here.
 */
export function isFromThisMachine(request: IncomingMessage): boolean {
  if (!isLoopback(request.socket.remoteAddress)) return false;
  if (request.headers.origin !== undefined) return false;
  return proxyHeaders.every(name => request.headers[name] === undefined);
}

function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  return plain === '::1' || plain.startsWith('127.');
}
