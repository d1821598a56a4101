import type { IsSecure, PeerRequest } from './client-address.ts';

/** Tells whether a request may use what a browser keeps for this server. */
export type IsSameOrigin = (request: PeerRequest, options?: { readonly needsOrigin: boolean }) => boolean;

/**
 * Makes the function that refuses requests which pages of other sites made a browser send: by `Sec-Fetch-Site`, and by an `Origin`
 * that is not the host of the request. Where neither is sent, no page made it, or a page of this server did.
 *
 * **Source**: Fetch Metadata Request Headers, W3C, 2.3, https://www.w3.org/TR/fetch-metadata/; RFC 6454 7
 *
 * @param publicUrl base of this server's addresses, which holds where a proxy changes the `Host`
 */
export function sameOriginCheck({
  publicUrl,
  isSecure,
}: {
  publicUrl: () => string;
  isSecure: IsSecure;
}): IsSameOrigin {
  return (request, { needsOrigin } = { needsOrigin: false }) => {
    const { headers } = request;
    const site = headers['sec-fetch-site'];
    if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
    if (headers.origin === undefined) return !needsOrigin;
    const origin = URL.parse(headers.origin);
    if (origin === null || !/^https?:$/.test(origin.protocol)) return false;
    if (origin.origin === URL.parse(publicUrl())?.origin) return true;
    // Whoever can change what is sent without TLS is not to reach what goes over TLS.
    if (origin.protocol !== 'https:' && isSecure(request)) return false;
    const host = headers[':authority'] ?? headers.host;
    return host !== undefined && origin.host === URL.parse(`${origin.protocol}//${host}`)?.host;
  };
}
