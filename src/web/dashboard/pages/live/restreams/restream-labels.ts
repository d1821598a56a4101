import type { LiveStream, Restream } from '../../../api/api-types.ts';

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

const reasons: Readonly<Record<string, string>> = {
  refused: 'The server refused the stream. Check the server URL and the stream key.',
  'name-not-found': 'The server’s name wasn’t found. Check the server URL.',
  'connection-refused': 'The server refused the connection. Check the server URL, or try again later.',
  unreachable: 'The server can’t be reached. Check the server URL, or try again later.',
  'timed-out': 'The server doesn’t respond. Check the server URL, or try again later.',
  'not-public': 'The server URL is in a private network. Only the operator can allow that.',
  tls: 'The server’s certificate is not valid. Check the server URL.',
  closed: 'The connection was lost. If that happens often, lower your bitrate.',
  stalled: 'The server accepts no more data. If that happens often, lower your bitrate.',
  failed: 'The server doesn’t accept RTMP or SRT at this URL. Check it.',
  codec: 'The stream’s codecs can’t be sent. Use H.264 and AAC in your encoder.',
  'sandbox-limit': 'In the sandbox, restreams end after 2 minutes.',
};

export function formatReason(reason: string | undefined): string | undefined {
  return reason === undefined ? undefined : (reasons[reason] ?? reason);
}

export const restreamStates: Readonly<Record<Restream['state'], string>> = {
  idle: 'Not live',
  connecting: 'Connecting',
  live: 'Live',
  retrying: 'Retrying',
  stopped: 'Stopped',
  disabled: 'Off',
};

export function formatRendition(rendition: string): string {
  return rendition === 'source' ? 'Source' : rendition;
}

export const knownDestinations = [
  ['youtube', 'YouTube', 'rtmp://a.rtmp.youtube.com/live2'],
  ['twitch', 'Twitch', 'rtmp://live.twitch.tv/app'],
  ['facebook', 'Facebook', 'rtmps://live-api-s.facebook.com:443/rtmp'],
] as const;
