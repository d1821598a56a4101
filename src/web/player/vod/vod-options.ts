import { parseTime } from '../../shared/time-text.ts';
import { isEnabled, type PageOptions, pageOptionsOf, parseAddress } from '../page-options.ts';
import { parseSdkPeer, type SdkPeer } from '../sdk/sdk-peer.ts';

/** What the address of a video's page asks of the player. */
export interface VodOptions extends PageOptions {
  readonly loop: boolean;
  readonly showSubtitles: boolean;
  readonly hidePoster: boolean;
  /** Where playing begins, in seconds. */
  readonly startSeconds: number;
  /** Where it stops; undefined for the end of the video. Later than the start. */
  readonly endSeconds: number | undefined;
  /** Undefined unless the address asks for messages. */
  readonly sdk: SdkPeer | undefined;
}

/** Reads `#autoplay;loop;t=10,20` and the like, and the query that SDKs write. A video waits for a click unless told otherwise. */
export function parseVodOptions(hash: string, search: string): VodOptions {
  const values = parseAddress(hash, search);
  return {
    ...pageOptionsOf(values, false),
    loop: isEnabled(values, 'loop'),
    showSubtitles: isEnabled(values, 'showsubtitles'),
    hidePoster: isEnabled(values, 'hideposter'),
    ...parseRange(values.get('t') ?? ''),
    sdk: parseSdkPeer(values),
  };
}

/** `10`, `10,20`, `,20`, each as `ss`, `mm:ss` or `hh:mm:ss`. What makes no sense is left out. */
function parseRange(text: string): { startSeconds: number; endSeconds: number | undefined } {
  const [from = '', to = ''] = text.split(',');
  const startSeconds = parseTime(from) ?? 0;
  const endSeconds = parseTime(to);
  return {
    startSeconds,
    endSeconds: endSeconds !== undefined && endSeconds > startSeconds ? endSeconds : undefined,
  };
}
