import { isAsked, type PageOptions, pageOptionsOf, readAddress } from './page-options.ts';
import { parseTime } from './time-text.ts';

/** Who drives the player from the page around it. */
export interface SdkPeer {
  /** Says which of several players on a page is meant; goes with every message. */
  readonly playerId: string | undefined;
  /** Origin of the page around; undefined when it did not say. */
  readonly origin: string | undefined;
}

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
  const hasSdk = values.has('sdkplayerid') || isAsked(values, 'api');
  return {
    ...pageOptionsOf(values, false),
    loop: isAsked(values, 'loop'),
    showSubtitles: isAsked(values, 'showsubtitles'),
    hidePoster: isAsked(values, 'hideposter'),
    ...readRange(values.get('t') ?? ''),
    sdk: hasSdk
      ? { playerId: values.get('sdkplayerid'), origin: readOrigin(values.get('sdkorigin')) }
      : undefined,
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

/** An origin in Base64, as `btoa(location.origin)` gives it. */
function readOrigin(encoded: string | undefined): string | undefined {
  try {
    const url = new URL(atob(decodeURIComponent(encoded ?? '')));
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.origin : undefined;
  } catch {
    return undefined;
  }
}
