import type { Restream } from '../../../api/api-types.ts';

/** A destination as it is set. */
export interface Destination {
  readonly name: string;
  readonly serverUrl: string;
  readonly streamKey: string;
}

/** A line of the list of destinations: what is set, what runs, or both. */
export interface RestreamRow {
  /** Place among those that are set; undefined for one that was removed and goes on until the broadcast ends. */
  readonly position: number | undefined;
  readonly name: string;
  readonly serverUrl: string;
  /** How it does; undefined for one that the running broadcast does not know. */
  readonly running: Restream | undefined;
}

/** Puts what is set and what runs together: changes made while a broadcast runs count from the next one on. */
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

/** An address without what may be secret in it: user, password and query. */
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

/** Why a destination is tried again, or gets no more, and what to do about it; undefined when nothing is wrong. */
export function formatReason(reason: string | undefined): string | undefined {
  return reason === undefined ? undefined : (reasons[reason] ?? reason);
}

/** State of a destination in words. */
export const restreamStates: Readonly<Record<Restream['state'], string>> = {
  idle: 'Off',
  connecting: 'Connecting',
  live: 'Live',
  retrying: 'Trying again',
  stopped: 'Stopped',
};

/** Where many people send their streams on to. */
export const knownDestinations = [
  ['youtube', 'YouTube', 'rtmp://a.rtmp.youtube.com/live2'],
  ['twitch', 'Twitch', 'rtmp://live.twitch.tv/app'],
  ['facebook', 'Facebook', 'rtmps://live-api-s.facebook.com:443/rtmp'],
] as const;
