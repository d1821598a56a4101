import { type AddressOptions, isEnabled } from '../page-options.ts';

/** Who drives the player from the page around it. */
export interface SdkPeer {
  /** Says which of several players on a page is meant; goes with every message. */
  readonly playerId: string | undefined;
  /** Origin of the page around; undefined when it did not say. */
  readonly origin: string | undefined;
}

/** Undefined unless the address asks for messages. */
export function parseSdkPeer(values: AddressOptions): SdkPeer | undefined {
  const playerId = values.get('sdkplayerid');
  if (playerId === undefined && !isEnabled(values, 'api')) return undefined;
  return { playerId, origin: parseOrigin(values.get('sdkorigin')) };
}

/** An origin in Base64, as `btoa(location.origin)` gives it. */
function parseOrigin(encoded: string | undefined): string | undefined {
  try {
    const url = new URL(atob(decodeURIComponent(encoded ?? '')));
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.origin : undefined;
  } catch {
    return undefined;
  }
}
