import type { IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { EarlyError } from './listener-errors.ts';

const absoluteForm = /^https?:\/\/([^/?#]*)/i;

/** Removes scheme and host from the target of a request, as sent to proxies. **Source**: RFC 9112 3.2.2 */
export function toOriginForm(target: string): string {
  const path = target.replace(absoluteForm, '');
  return path === target || path.startsWith('/') ? path : `/${path}`;
}

/** Several hosts could poison a cache that picks another one. **Source**: RFC 9112 3.2, RFC 9113 8.3.1 */
export function checkHostHeader({
  httpVersion,
  headers,
  rawHeaders,
  url = '',
}: IncomingMessage | Http2ServerRequest): EarlyError | undefined {
  if (httpVersion === '1.1' && headers.host === undefined) return 'no-host';
  const authority = headers[':authority'] ?? absoluteForm.exec(url)?.[1];
  const { host } = headers;
  if (
    authority !== undefined &&
    host !== undefined &&
    host.toLowerCase() !== String(authority).toLowerCase()
  ) {
    return 'hosts';
  }
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1 ? 'hosts' : undefined;
}
