import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { forwardedFamily } from '../../shared/network/proxy-protocol.ts';

const proxyHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'] as const;

/** Excludes requests that a local proxy forwarded, and those of foreign web pages in a local browser. */
export function isLocalRequest(request: {
  readonly headers: IncomingHttpHeaders & { readonly ':authority'?: string | undefined };
  readonly socket: {
    readonly remoteAddress?: string | undefined;
    readonly remoteFamily?: string | undefined;
  };
}): boolean {
  const { headers, socket } = request;
  if (!isLoopback(socket.remoteAddress) || socket.remoteFamily === forwardedFamily) return false;
  if (headers.origin !== undefined) return false;
  if (!isLocalHostName(headers[':authority'] ?? headers.host ?? 'localhost')) return false;
  return proxyHeaders.every(name => headers[name] === undefined);
}

/** Accepts `localhost` and addresses, which no foreign name server controls. */
function isLocalHostName(host: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  return plain === '::1' || plain.startsWith('127.');
}

export interface PeerRequest {
  readonly headers: IncomingHttpHeaders & { readonly ':authority'?: string | undefined };
  readonly socket: {
    readonly remoteAddress?: string | undefined;
    readonly encrypted?: boolean | undefined;
  };
}

export type AddressOf = (request: PeerRequest) => string;

export type IsSecure = (request: PeerRequest) => boolean;

/** Reads the last untrusted address of `X-Forwarded-For`. @param trusted may hold networks (`10.0.0.0/8`) */
export function addressReader(trusted: readonly string[]): AddressOf {
  const isTrusted = trustedProxyCheck(trusted);
  return request => {
    let address = unmapIpv4(request.socket.remoteAddress ?? '');
    if (trusted.length === 0) return address;
    const hops = [request.headers['x-forwarded-for'] ?? []].flat().join(',').split(',');
    for (const hop of hops.reverse()) {
      if (address === '' || !isTrusted(address)) return address;
      const before = unmapIpv4(hop.trim());
      if (isIP(before) === 0) return address;
      address = before;
    }
    return address;
  };
}

/** Checks for TLS to this server, or to a trusted proxy by its `X-Forwarded-Proto`. */
export function secureReader(trusted: readonly string[]): IsSecure {
  const isTrusted = trustedProxyCheck(trusted);
  return ({ headers, socket }) => {
    if (socket.encrypted === true) return true;
    const address = unmapIpv4(socket.remoteAddress ?? '');
    if (address === '' || !isTrusted(address)) return false;
    const [protocol = ''] = [headers['x-forwarded-proto'] ?? []].flat().join(',').split(',');
    return protocol.trim().toLowerCase() === 'https';
  };
}

export function trustedProxyCheck(trusted: readonly string[]): (address: string) => boolean {
  const proxies = new BlockList();
  for (const entry of trusted) {
    const [address = '', bits] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }
  return address => proxies.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function unmapIpv4(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
