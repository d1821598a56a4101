import { isEnabled, type PageOptions, pageOptionsOf, parseAddress } from '../page-options.ts';
import { parseSdkPeer, type SdkPeer } from '../sdk/sdk-peer.ts';

/** What the address of a live stream's page asks of the player. */
export interface LiveOptions extends PageOptions {
  readonly hidePoster: boolean;
  /** Undefined unless the address asks for messages. */
  readonly sdk: SdkPeer | undefined;
}

/** Reads `#muted;hide-title` and the like, and the query that SDKs write. A live page plays by itself unless told `autoplay:false`. */
export function parseLiveOptions(hash: string, search: string): LiveOptions {
  const values = parseAddress(hash, search);
  return {
    ...pageOptionsOf(values, true),
    hidePoster: isEnabled(values, 'hideposter'),
    sdk: parseSdkPeer(values),
  };
}
