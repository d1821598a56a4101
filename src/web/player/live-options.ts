import { isAsked, type PageOptions, pageOptionsOf, readAddress } from './page-options.ts';
import { readSdkPeer, type SdkPeer } from './sdk-peer.ts';

/** What the address of a live stream's page asks of the player. */
export interface LiveOptions extends PageOptions {
  readonly hidePoster: boolean;
  /** Undefined unless the address asks for messages. */
  readonly sdk: SdkPeer | undefined;
}

/** Reads `#muted;hide-title` and the like, and the query that SDKs write. A live page plays by itself unless told `autoplay:false`. */
export function readLiveOptions(hash: string, search: string): LiveOptions {
  const values = readAddress(hash, search);
  return {
    ...pageOptionsOf(values, true),
    hidePoster: isAsked(values, 'hideposter'),
    sdk: readSdkPeer(values),
  };
}
