import { isIP } from 'node:net';

export const maxPasskeysPerUser = 20;

export interface Passkey {
  readonly passkeyId: string;
  readonly userId: string;
  readonly name: string;
  readonly credentialId: Buffer;
  readonly publicKey: Buffer;
  /** Grows with each use, where the authenticator counts. */
  readonly counter: number;
  readonly transports: readonly string[];
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | undefined;
}

export interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/** Returns undefined for addresses where browsers allow no passkeys: without TLS, or with an IP address for a name. */
export function relyingPartyOf(publicUrl: string): RelyingParty | undefined {
  const { protocol, hostname, origin } = new URL(publicUrl);
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost');
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  if (isAddress || (protocol !== 'https:' && !isLocal)) return undefined;
  return { id: hostname, origin };
}
