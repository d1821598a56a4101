/** Restricts who may play a video or live stream. Empty lists restrict nothing. */
export interface PlaybackPolicy {
  /** Sites with the player: `example.com`, or `*.example.com` for all its subdomains. In lower case. */
  readonly allowedDomains: string[];
  /** True to allow requests that name no site, such as those of native apps. */
  readonly allowNoReferrer: boolean;
  /** ISO 3166-1 alpha-2. */
  readonly allowedCountries: string[];
  readonly blockedCountries: string[];
}

/** Limits of a viewer's signed token, which hold for the clips of that viewer. */
export interface ViewerLimits {
  /** Id of the key; tokens end when it is revoked. */
  readonly signingKeyId: string;
  readonly policy?: PlaybackPolicy | undefined;
  readonly endsAtMs: number;
}

export const maxPolicyDomains = 50;
/** Maximum length of all domains together: pages name them in a header. */
export const maxPolicyDomainChars = 2000;
export const maxPolicyCountries = 250;

/** A host name or IPv4 address without scheme and port; `*.` only at the beginning. */
export const domainPattern =
  /^(\*\.)?(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/i;

export const countryPattern = /^[A-Z]{2}$/;

/** @param host in lower case, without a port */
export function matchesDomain(host: string, domain: string): boolean {
  return domain.startsWith('*.') ? host.endsWith(domain.slice(1)) : host === domain;
}

/** Undefined for null, and for a policy that restricts nothing. @param json as stored */
export function restrictingPolicy(json: string | null): PlaybackPolicy | undefined {
  if (json === null) return undefined;
  const policy = JSON.parse(json) as PlaybackPolicy;
  const { allowedDomains, allowedCountries, blockedCountries } = policy;
  return allowedDomains.length + allowedCountries.length + blockedCountries.length === 0 ? undefined : policy;
}
