import type { IsSecure, PeerRequest } from './client-address.ts';

export type IsSameOrigin = (request: PeerRequest, options: { readonly needsOrigin: boolean }) => boolean;

/**
 * Refuses cross-site requests by `Sec-Fetch-Site` and `Origin`. Requests without both come from programs or
 * from pages of this server.
 *
 * **Source**: Fetch Metadata Request Headers, W3C, 2.3, https://www.w3.org/TR/fetch-metadata/; RFC 6454 7
 * @param publicUrl for proxies that change the `Host`
 */
export function sameOriginCheck({
  publicUrl,
  isSecure,
}: {
  publicUrl: () => string;
  isSecure: IsSecure;
}): IsSameOrigin {
  return (request, { needsOrigin }) => {
    const { headers } = request;
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
    if (headers.origin === undefined) return !needsOrigin;
    const origin = URL.parse(headers.origin);
    if (origin === null || !/^https?:$/.test(origin.protocol)) return false;
    if (origin.origin === URL.parse(publicUrl())?.origin) return true;
    // An attacker who can change plain HTTP must not reach what uses TLS.
    if (origin.protocol !== 'https:' && isSecure(request)) return false;
    const host = headers[':authority'] ?? headers.host;
    return host !== undefined && origin.host === URL.parse(`${origin.protocol}//${host}`)?.host;
  };
}
