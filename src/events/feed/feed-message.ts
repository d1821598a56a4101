import { formatAtom } from '../../shared/clock.ts';
import { eventBody, eventTypes } from '../event-catalogue.ts';
import type { StoredEvent } from '../outbox.store.ts';

export const broadcastStatsType = 'broadcast.stats';
export const encodingProgressType = 'video.encoding.progress';

export const restreamStateType = 'restream.state';

export const feedTypes: readonly string[] = [
  ...eventTypes,
  broadcastStatsType,
  restreamStateType,
  encodingProgressType,
];

export interface BroadcastStatsMessage {
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly state: 'live' | 'waiting' | 'stopping';
  readonly durationSeconds: number;
  readonly bitrateBitsPerSecond: number;
  readonly framesPerSecond: number;
  readonly droppedFrames: number;
  readonly missingFrames: number;
  readonly keyframeIntervalSeconds: number | undefined;
  readonly viewers: number;
  readonly protocol?: string;
  /** The encoder's name, or `''`. */
  readonly encoder?: string;
  readonly videoCodec?: string;
  readonly audioCodec?: string;
  readonly width?: number;
  readonly height?: number;
  /** Tracks that the publisher sends. */
  readonly tracks?: readonly object[];
  readonly averageBitrateBitsPerSecond?: number;
  readonly peakBitrateBitsPerSecond?: number;
  readonly averageFramesPerSecond?: number;
  readonly declaredFramesPerSecond?: number | undefined;
  readonly longestKeyframeIntervalSeconds?: number | undefined;
  readonly audioDriftMilliseconds?: number | undefined;
  readonly timestampJumps?: number;
  readonly droppedConnections?: number;
  readonly lastDroppedAtMs?: number | undefined;
  readonly awaySeconds?: number;
  readonly silentSeconds?: number | undefined;
  readonly transport?:
    | {
        readonly roundTripMilliseconds?: number;
        readonly packetsReceived: number;
        readonly packetsLost: number;
        readonly packetsRecovered: number;
      }
    | undefined;
}

export interface RestreamStateMessage {
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  /** Index in the restreams of the live stream. */
  readonly position: number;
  readonly name: string;
  readonly state: string;
  readonly sinceMs: number;
  readonly reason: string | undefined;
  readonly lastError: string | undefined;
  readonly bitrateBitsPerSecond: number;
  readonly droppedFrames: number;
  readonly retries: number;
}

/** `lastEventId` is the event after which the connection starts. */
export function helloMessage(lastNumber: number, environment: string): string {
  return JSON.stringify({ type: 'hello', lastEventId: String(lastNumber), environment });
}

/** Reports that requested events were removed. `oldestEventId` is the first one sent. */
export function gapMessage(oldestNumber: number): string {
  return JSON.stringify({ type: 'gap', oldestEventId: String(oldestNumber) });
}

export const pongMessage = JSON.stringify({ type: 'pong' });

export function eventMessage(event: StoredEvent): string {
  return JSON.stringify({ eventId: String(event.number), ...eventBody(event) });
}

export function statsMessage(
  { projectId, encoder, lastDroppedAtMs, ...stats }: BroadcastStatsMessage,
  atMs: number,
): string {
  return JSON.stringify({
    type: broadcastStatsType,
    emittedAt: formatAtom(atMs),
    ...stats,
    encoder: encoder === '' ? undefined : encoder,
    lastDroppedAt: lastDroppedAtMs === undefined ? undefined : formatAtom(lastDroppedAtMs),
  });
}

export function restreamMessage(
  { projectId, sinceMs, ...moment }: RestreamStateMessage,
  atMs: number,
): string {
  return JSON.stringify({
    type: restreamStateType,
    emittedAt: formatAtom(atMs),
    ...moment,
    since: formatAtom(sinceMs),
  });
}
