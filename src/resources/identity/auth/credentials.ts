type Credentials =
  | { readonly scheme: 'basic'; readonly apiKey: string }
  | { readonly scheme: 'bearer'; readonly accessToken: string };

/** Accepts `Basic` with base64 of `<apiKey>:`, or `Bearer <accessToken>` (RFC 7617 2, RFC 6750 2.1). */
export function parseAuthorization(header: string): Credentials | undefined {
  const [, scheme = '', value = ''] = /^(\w+) +([A-Za-z0-9\-._~+/]+=*)$/.exec(header.trim()) ?? [];
  if (scheme.toLowerCase() === 'bearer') return { scheme: 'bearer', accessToken: value };
  if (scheme.toLowerCase() !== 'basic') return undefined;
  const pair = Buffer.from(value, 'base64').toString();
  // The key is the user name and the password is empty. The colon is required.
  if (pair.length < 2 || pair.indexOf(':') !== pair.length - 1) return undefined;
  return { scheme: 'basic', apiKey: pair.slice(0, -1) };
}
