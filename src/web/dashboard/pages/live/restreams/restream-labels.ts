import type { LiveStream, Restream } from '../../../api/api-types.ts';
import { t } from '../../../texts/live.ts';

export type Destination = LiveStream['restreams'][number] & { readonly streamKey: string };

/** Returns destinations with their stream keys, which only those get who may change them. */
export function destinationsOf({ restreams }: Pick<LiveStream, 'restreams'>): Destination[] {
  return restreams.map(restream => ({ ...restream, streamKey: restream.streamKey ?? '' }));
}

export type Rendition = NonNullable<Destination['rendition']>;

export interface RestreamRow {
  readonly destination: Destination;
  /** The URL without secrets. */
  readonly serverUrl: string;
  /** Undefined until the server has told its state. */
  readonly status: Restream | undefined;
}

/** Statuses may belong to the list before or after its last change. */
export function restreamRows(
  destinations: readonly Destination[],
  statuses: readonly Restream[],
): RestreamRow[] {
  const left = [...statuses];
  return destinations.map(destination => {
    const serverUrl = redactedUrl(destination.serverUrl);
    const index = left.findIndex(
      status =>
        status.name === destination.name &&
        status.serverUrl === serverUrl &&
        (status.state === 'disabled') === !isEnabled(destination),
    );
    const [status] = index === -1 ? [] : left.splice(index, 1);
    return { destination, serverUrl, status };
  });
}

export function isEnabled({ enabled = true }: Destination): boolean {
  return enabled;
}

/** Reconnects a live destination. */
export function isReconnecting(before: Destination, after: Destination): boolean {
  return (
    before.serverUrl !== after.serverUrl ||
    before.streamKey !== after.streamKey ||
    (before.rendition ?? 'source') !== (after.rendition ?? 'source')
  );
}

/** Removes user, password and query, which may be secret. */
export function redactedUrl(serverUrl: string): string {
  return serverUrl.replace(/^((?:rtmps?|srt):\/\/)[^/?#\s@]*@/i, '$1').replace(/[?#].*$/, '');
}

export function formatRendition(rendition: string): string {
  return rendition === 'source' ? t('restreams.source') : rendition;
}

export const knownDestinations = [
  ['youtube', 'YouTube', 'rtmp://a.rtmp.youtube.com/live2'],
  ['twitch', 'Twitch', 'rtmp://live.twitch.tv/app'],
  ['facebook', 'Facebook', 'rtmps://live-api-s.facebook.com:443/rtmp'],
] as const;
