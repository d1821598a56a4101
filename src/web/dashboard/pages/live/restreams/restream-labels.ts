import type { Restream } from '../../../api/api-types.ts';

export interface Destination {
  readonly name: string;
  readonly serverUrl: string;
  readonly streamKey: string;
}

/** A configured destination, a running restream, or both. */
export interface RestreamRow {
  /** Index in the settings; undefined for a destination that was removed during the broadcast. */
  readonly position: number | undefined;
  readonly name: string;
  readonly serverUrl: string;
  /** Undefined if the running broadcast does not know the destination. */
  readonly running: Restream | undefined;
}

/** Joins settings and running restreams: changes apply from the next broadcast on. */
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
  refused: 'It refuses the stream. Check the address and the key.',
  'name-not-found': 'Its name leads nowhere. Check the address.',
  'connection-refused': 'Nothing answers there. Check the address; perhaps it is down.',
  unreachable: 'It cannot be reached. Check the address; perhaps it is down.',
  'timed-out': 'It does not answer. Check the address; perhaps it is down.',
  'not-public': 'The address is inside this server’s own network, which only its operator can allow.',
  tls: 'Its certificate is not valid.',
  closed: 'The connection broke. If that happens again and again, send less.',
  stalled: 'It takes nothing. If that happens again and again, send less.',
  failed: 'What answers there does not take RTMP.',
  codec: 'The sandbox sends on H.264 with AAC only.',
  'sandbox-limit': 'In the sandbox a restream ends after 2 minutes.',
};

export function formatReason(reason: string | undefined): string | undefined {
  return reason === undefined ? undefined : (reasons[reason] ?? reason);
}

export const restreamStates: Readonly<Record<Restream['state'], string>> = {
  idle: 'Off',
  connecting: 'Connecting',
  live: 'Live',
  retrying: 'Trying again',
  stopped: 'Stopped',
};

export const knownDestinations = [
  ['youtube', 'YouTube', 'rtmp://a.rtmp.youtube.com/live2'],
  ['twitch', 'Twitch', 'rtmp://live.twitch.tv/app'],
  ['facebook', 'Facebook', 'rtmps://live-api-s.facebook.com:443/rtmp'],
] as const;
