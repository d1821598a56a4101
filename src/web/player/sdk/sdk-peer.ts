import { type AddressOptions, isEnabled } from '../page-options.ts';

export interface SdkPeer {
  /** Identifies the player among several on a page, in every message. */
  readonly playerId: string | undefined;
  readonly origin: string | undefined;
}

export function parseSdkPeer(values: AddressOptions): SdkPeer | undefined {
  const playerId = values.get('sdkplayerid');
  if (playerId === undefined && !isEnabled(values, 'api')) return undefined;
  return { playerId, origin: parseOrigin(values.get('sdkorigin')) };
}

/** Decodes `btoa(location.origin)`. */
function parseOrigin(encoded: string | undefined): string | undefined {
  try {
    const url = new URL(atob(decodeURIComponent(encoded ?? '')));
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.origin : undefined;
  } catch {
    return undefined;
  }
}
