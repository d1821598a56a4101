import type { IsSecure, PeerRequest } from './client-address.ts';

interface HttpsRedirectOptions {
  /** Host names with a certificate, in lower case. Requests to others, such as addresses of the own network, are answered. */
  readonly domains: readonly string[];
  readonly hasCertificate: (domain: string) => boolean;
  readonly isSecure: IsSecure;
  /** Port of the redirect's target; undefined or 443 for none. */
  readonly port: () => number | undefined;
}

/** Monitors and certificate authorities ask over plain HTTP. */
const plainPaths = /^\/(?:\.well-known\/acme-challenge|health)\//;

/** Sends requests without TLS for a host name with a certificate to HTTPS. */
export class HttpsRedirect {
  readonly #options: HttpsRedirectOptions;
  readonly #domains: ReadonlySet<string>;

  constructor(options: HttpsRedirectOptions) {
    this.#options = options;
    this.#domains = new Set(options.domains);
  }

  /** Returns the base of the address to go to; undefined for requests that are answered. @param path without the base path */
  targetOf(request: PeerRequest, path: string): string | undefined {
    const { hasCertificate, isSecure, port } = this.#options;
    const host = (request.headers[':authority'] ?? request.headers.host ?? '')
      .replace(/\.?(?::\d*)?$/, '')
      .toLowerCase();
    if (!this.#domains.has(host) || plainPaths.test(path)) return undefined;
    if (!hasCertificate(host) || isSecure(request)) return undefined;
    const number = port();
    return `https://${host}${number === undefined || number === 443 ? '' : `:${number}`}`;
  }
}
