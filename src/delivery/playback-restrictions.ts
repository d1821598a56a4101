import { matchesDomain, type PlaybackPolicy } from '../shared/playback-policy.ts';
import type { ViewerRequest } from './responses/exchange.ts';
import { viewerRefusals } from './viewer-refusals.ts';

/** ISO 3166-1 alpha-2, `''` if unknown; undefined without a database of countries. */
type CountryOf = (request: ViewerRequest) => Promise<string | undefined>;

export interface PlaybackRestrictionsOptions {
  readonly countryOf: CountryOf;
  /** Hosts of this server's pages, with their ports. Undefined where the operator named none: any host that a request names. */
  readonly ownHosts: ReadonlySet<string> | undefined;
  readonly publicUrl: () => string;
}

/** Compares requests with playback policies. */
export class PlaybackRestrictions {
  readonly #options: PlaybackRestrictionsOptions;

  constructor(options: PlaybackRestrictionsOptions) {
    this.#options = options;
  }

  /** Returns why the request is refused. */
  async refusal(request: ViewerRequest, policy: PlaybackPolicy): Promise<string | undefined> {
    return this.#domainRefusal(request, policy) ?? (await this.#countryRefusal(request, policy));
  }

  #domainRefusal(
    request: ViewerRequest,
    { allowedDomains, allowNoReferrer }: PlaybackPolicy,
  ): string | undefined {
    if (allowedDomains.length === 0) return undefined;
    const site = siteOf(request);
    if (site === undefined) {
      return allowNoReferrer ? undefined : viewerRefusals['no-site'];
    }
    // Pages of this server were admitted before they request media.
    if (this.#isOwnPage(request, site)) return undefined;
    const host = site.hostname.toLowerCase();
    if (allowedDomains.some(domain => matchesDomain(host, domain))) return undefined;
    return viewerRefusals.site;
  }

  async #countryRefusal(
    request: ViewerRequest,
    { allowedCountries, blockedCountries }: PlaybackPolicy,
  ): Promise<string | undefined> {
    if (allowedCountries.length === 0 && blockedCountries.length === 0) return undefined;
    const country = await this.#options.countryOf(request);
    if (country === undefined) {
      return 'Playback is limited to certain countries, and this server has no country database. The operator must set MILLRACE_ANALYTICS_GEO_DATABASE.';
    }
    const isAllowed =
      (allowedCountries.length === 0 || allowedCountries.includes(country)) &&
      !blockedCountries.includes(country);
    return isAllowed ? undefined : viewerRefusals.country;
  }

  #isOwnPage({ headers }: ViewerRequest, { host }: URL): boolean {
    const { ownHosts } = this.#options;
    if (ownHosts !== undefined) return ownHosts.has(host);
    const publicUrl = this.#options.publicUrl();
    if (publicUrl !== '' && host === new URL(publicUrl).host) return true;
    const own = headers[':authority'] ?? headers.host;
    return typeof own === 'string' && own.toLowerCase() === host;
  }
}

/** `Origin` is `null` for files and sandboxed frames. An unreadable address matches no domain. */
function siteOf({ headers }: ViewerRequest): URL | undefined {
  const { origin, referer } = headers;
  const text = typeof origin === 'string' && origin !== '' && origin !== 'null' ? origin : referer;
  if (typeof text !== 'string' || text === '') return undefined;
  return URL.parse(text) ?? new URL('about:blank');
}
