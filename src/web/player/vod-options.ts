import { isAsked, type PageOptions, pageOptionsOf, readAddress } from './page-options.ts';
import { readSdkPeer, type SdkPeer } from './sdk-peer.ts';
import { parseTime } from './time-text.ts';

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
export function readVodOptions(hash: string, search: string): VodOptions {
  const values = readAddress(hash, search);
  return {
    ...pageOptionsOf(values, false),
    loop: isAsked(values, 'loop'),
    showSubtitles: isAsked(values, 'showsubtitles'),
    hidePoster: isAsked(values, 'hideposter'),
    ...readRange(values.get('t') ?? ''),
    sdk: readSdkPeer(values),
  };
}

/** `10`, `10,20`, `,20`, each as `ss`, `mm:ss` or `hh:mm:ss`. What makes no sense is left out. */
function readRange(text: string): { startSeconds: number; endSeconds: number | undefined } {
  const [from = '', to = ''] = text.split(',');
  const startSeconds = parseTime(from) ?? 0;
  const endSeconds = parseTime(to);
  return {
    startSeconds,
    endSeconds: endSeconds !== undefined && endSeconds > startSeconds ? endSeconds : undefined,
  };
}
