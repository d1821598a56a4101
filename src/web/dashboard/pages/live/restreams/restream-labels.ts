import type { Restream } from '../../../api/api-types.ts';

export interface Destination {
  readonly name: string;
  readonly serverUrl: string;
  readonly streamKey: string;
}

export interface RestreamRow {
  /** Undefined for a destination that was removed during the broadcast. */
  readonly position: number | undefined;
  readonly name: string;
  readonly serverUrl: string;
  readonly running: Restream | undefined;
}

/** Changed settings apply from the next broadcast on. */
export function restreamRows(
  destinations: readonly Destination[],
  running: readonly Restream[],
): RestreamRow[] {
  const left = [...running];
  const lines: RestreamRow[] = destinations.map(({ name, serverUrl }, position) => {
    const shown = redactedUrl(serverUrl);
    const at = left.findIndex(one => one.name === name && one.serverUrl === shown);
    return { position, name, serverUrl: shown, running: at === -1 ? undefined : left.splice(at, 1)[0] };
  });
  const removed = left
    .filter(({ state }) => state !== 'idle')
    .map(one => ({ position: undefined, name: one.name, serverUrl: one.serverUrl, running: one }));
  return [...lines, ...removed];
}

/** Removes user, password and query, which may be secret. */
export function redactedUrl(serverUrl: string): string {
  return serverUrl.replace(/^(rtmps?:\/\/)[^/?#\s@]*@/i, '$1').replace(/[?#].*$/, '');
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
  failed: 'The server doesn’t accept RTMP. Check the server URL.',
  codec: 'Restreams in the sandbox support H.264 with AAC only.',
  'sandbox-limit': 'In the sandbox, restreams end after 2 minutes.',
};

export function formatReason(reason: string | undefined): string | undefined {
  return reason === undefined ? undefined : (reasons[reason] ?? reason);
}

export const restreamStates: Readonly<Record<Restream['state'], string>> = {
  idle: 'Off',
  connecting: 'Connecting',
  live: 'Live',
  retrying: 'Retrying',
  stopped: 'Stopped',
  disabled: 'Disabled',
};

export const knownDestinations = [
  ['youtube', 'YouTube', 'rtmp://a.rtmp.youtube.com/live2'],
  ['twitch', 'Twitch', 'rtmp://live.twitch.tv/app'],
  ['facebook', 'Facebook', 'rtmps://live-api-s.facebook.com:443/rtmp'],
] as const;
