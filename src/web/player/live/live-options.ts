import { isEnabled, type PageOptions, pageOptionsOf, parseAddress } from '../page-options.ts';
import { parseSdkPeer, type SdkPeer } from '../sdk/sdk-peer.ts';

interface LiveOptions extends PageOptions {
  readonly hidePoster: boolean;
  readonly sdk: SdkPeer | undefined;
}

/** Parses `#muted;hide-title` and the query of SDKs. A live page autoplays unless it has `autoplay:false`. */
export function parseLiveOptions(hash: string, search: string): LiveOptions {
  const values = parseAddress(hash, search);
  return {
    ...pageOptionsOf(values, true),
    hidePoster: isEnabled(values, 'hideposter'),
    sdk: parseSdkPeer(values),
  };
}
