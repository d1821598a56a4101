/** Restricts who may play a video or live stream. Empty lists restrict nothing. */
export interface PlaybackPolicy {
  /** Sites with the player: `example.com`, or `*.example.com` for all its subdomains. In lower case. */
  readonly allowedDomains: readonly string[];
  /** Of requests that name no site, such as those of native apps. */
  readonly allowNoReferrer: boolean;
  /** ISO 3166-1 alpha-2. */
  readonly allowedCountries: readonly string[];
  readonly blockedCountries: readonly string[];
}

export const maxPolicyDomains = 100;
export const maxPolicyCountries = 250;
export const maxDomainChars = 253;

/** A host name or IPv4 address without scheme and port; `*.` only at the beginning. */
export const domainPattern =
  /^(\*\.)?(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

export const countryPattern = /^[A-Z]{2}$/;

/** @param host in lower case, without a port */
export function matchesDomain(host: string, domain: string): boolean {
  return domain.startsWith('*.') ? host.endsWith(domain.slice(1)) : host === domain;
}
