import { parseTime } from '../../shared/time-text.ts';
import { type AddressOptions, isEnabled, type PageOptions, pageOptionsOf } from '../page-options.ts';
import { parseSdkPeer, type SdkPeer } from '../sdk/sdk-peer.ts';

export interface VodOptions extends PageOptions {
  readonly loop: boolean;
  readonly showSubtitles: boolean;
  readonly hidePoster: boolean;
  readonly startSeconds: number;
  /** Undefined for the end of the video. */
  readonly endSeconds: number | undefined;
  readonly sdk: SdkPeer | undefined;
}

export function vodOptionsOf(values: AddressOptions, autoplayDefault: boolean): VodOptions {
  return {
    ...pageOptionsOf(values, autoplayDefault),
    loop: isEnabled(values, 'loop'),
    showSubtitles: isEnabled(values, 'showsubtitles'),
    hidePoster: isEnabled(values, 'hideposter'),
    ...parseRange(values.get('t') ?? ''),
    sdk: parseSdkPeer(values),
  };
}

/** Parses `10`, `10,20` or `,20`, each as `ss`, `mm:ss` or `hh:mm:ss`. Ignores invalid parts. */
function parseRange(text: string): { startSeconds: number; endSeconds: number | undefined } {
  const [from = '', to = ''] = text.split(',');
  const startSeconds = parseTime(from) ?? 0;
  const endSeconds = parseTime(to);
  return {
    startSeconds,
    endSeconds: endSeconds !== undefined && endSeconds > startSeconds ? endSeconds : undefined,
  };
}
