import { type ClientRequest, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { connect, type DetailedPeerCertificate } from 'node:tls';

const timeoutMs = 8_000;
const maxBodyBytes = 64 * 1024;

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** Time from the first byte of the body to the last one. */
  readonly bodyMs: number;
}

/** Sends a request over HTTP/1.1, whatever the certificate is: that is a finding of its own. Follows no redirect. */
export function get(
  url: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const request = open(url, headers, signal);
  request.on('error', reject);
  request.on('upgrade', (_response, socket) => {
    socket.destroy();
    reject(new Error('the answer changes the protocol'));
  });
  request.on('response', response => {
    let body = '';
    let firstAtMs: number | undefined;
    response.setEncoding('utf8');
    response.on('error', reject);
    response.on('data', (chunk: string) => {
      firstAtMs ??= performance.now();
      body += chunk;
      if (body.length > maxBodyBytes) response.destroy(new Error('the answer is too large'));
    });
    response.on('end', () => {
      const bodyMs = firstAtMs === undefined ? 0 : performance.now() - firstAtMs;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body, bodyMs });
    });
  });
  request.end();
  return promise;
}

/** Asks for a WebSocket. Returns the value of `Sec-WebSocket-Accept`, or the status without one. */
export function upgrade(url: URL, key: string, signal: AbortSignal): Promise<string | number> {
  const { promise, resolve, reject } = Promise.withResolvers<string | number>();
  const request = open(
    url,
    {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': key,
    },
    signal,
  );
  request.on('error', reject);
  request.on('upgrade', (response, socket) => {
    socket.on('error', () => {});
    socket.destroy();
    resolve(response.headers['sec-websocket-accept'] ?? 101);
  });
  request.on('response', response => {
    response.destroy();
    resolve(response.statusCode ?? 0);
  });
  request.end();
  return promise;
}

function open(url: URL, headers: Readonly<Record<string, string>>, signal: AbortSignal): ClientRequest {
  const options = {
    agent: false,
    headers: { ...headers, 'User-Agent': 'millrace-doctor' },
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    rejectUnauthorized: false,
  };
  return url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
}

export interface TlsTerms {
  /** Code of OpenSSL or Node that says why the certificate is not trusted. */
  readonly problem: string | undefined;
  readonly expiresAtMs: number;
  readonly names: string;
  /** Protocol that was agreed on, such as `h2`. */
  readonly protocol: string | undefined;
}

export function readTlsTerms(url: URL, signal: AbortSignal): Promise<TlsTerms> {
  const { promise, resolve, reject } = Promise.withResolvers<TlsTerms>();
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = connect({
    host,
    port: Number(url.port || 443),
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['h2', 'http/1.1'],
    rejectUnauthorized: false,
  });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const abort = () => socket.destroy(new Error(`no answer within ${timeoutMs / 1_000} s`));
  limit.addEventListener('abort', abort, { once: true });
  socket.once('error', reject);
  if (limit.aborted) abort();
  socket.once('close', () => {
    limit.removeEventListener('abort', abort);
    reject(new Error('the connection was closed before TLS was agreed on'));
  });
  socket.once('secureConnect', () => {
    const certificate: DetailedPeerCertificate = socket.getPeerCertificate(true);
    const error = socket.authorizationError as unknown as
      | (Error & { readonly code?: string })
      | string
      | null;
    resolve({
      problem: typeof error === 'string' ? error : (error?.code ?? error?.message),
      expiresAtMs: Date.parse(certificate.valid_to),
      names: (certificate.subjectaltname ?? '').replaceAll('DNS:', ''),
      protocol: socket.alpnProtocol || undefined,
    });
    socket.destroy();
  });
  return promise;
}
