import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';

const proxyHeaders = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via'] as const;

/**
 * Whether a request was made on this machine by its operator. One that a proxy on the same machine passed on was not, nor one
 * that a web page made in a browser here: such a page is of another origin, or of a name that was pointed to this machine.
 */
export function isLocalRequest(request: {
  readonly headers: IncomingHttpHeaders & { readonly ':authority'?: string | undefined };
  readonly socket: { readonly remoteAddress?: string | undefined };
}): boolean {
  const { headers, socket } = request;
  if (!isLoopback(socket.remoteAddress)) return false;
  if (headers.origin !== undefined) return false;
  if (!isLocalHostName(headers[':authority'] ?? headers.host ?? 'localhost')) return false;
  return proxyHeaders.every(name => headers[name] === undefined);
}

/** `localhost` or an address, neither of which somebody else's name server answers for. */
function isLocalHostName(host: string): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase();
  return name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

function isLoopback(address: string | undefined): boolean {
  if (address === undefined) return false;
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  return plain === '::1' || plain.startsWith('127.');
}

/** What a request tells of where it comes from. */
export interface PeerRequest {
  readonly headers: IncomingHttpHeaders & { readonly ':authority'?: string | undefined };
  /** `encrypted`: TLS. */
  readonly socket: {
    readonly remoteAddress?: string | undefined;
    readonly encrypted?: boolean | undefined;
  };
}

/** Tells the address of the client that made a request. */
export type AddressOf = (request: PeerRequest) => string;

/** Tells whether a client made its request over TLS. */
export type IsSecure = (request: PeerRequest) => boolean;

/**
 * Makes the function that tells the address of a client: that of the connection, or, where a trusted proxy made it, the last one in
 * `X-Forwarded-For` that is none of a trusted proxy.
 *
 * @param trusted addresses and networks (`10.0.0.0/8`) of proxies that say the truth
 */
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

/**
 * Makes the function that tells whether a client used TLS: to this server, or to a trusted proxy that says so in `X-Forwarded-Proto`.
 *
 * @param trusted as for {@link addressReader}
 */
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

/** Makes the function that tells whether an address is that of a trusted proxy. */
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

/** An IPv4 address that stands in an IPv6 one, as it is. */
function unmapIpv4(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
