import { formatAtom } from '../../shared/clock.ts';
import { eventBody } from '../event-body.ts';
import { eventTypes } from '../event-catalogue.ts';
import type { StoredEvent } from '../outbox.store.ts';

/** How a broadcast does, told each second and kept nowhere. */
export const broadcastStatsType = 'broadcast.stats';
/** How far an encode has come, kept nowhere. */
export const encodingProgressType = 'video.encoding.progress';

/** How a destination of a broadcast does, told each second and kept nowhere. */
export const restreamStateType = 'restream.state';

/** Every type that a client can ask for. */
export const feedTypes: readonly string[] = [
  ...eventTypes,
  broadcastStatsType,
  restreamStateType,
  encodingProgressType,
];

/** A broadcast that can be played and has not ended, as it is told; undefined values are left out. */
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
  /** What it calls itself, or `''`. */
  readonly encoder?: string;
  readonly videoCodec?: string;
  readonly audioCodec?: string;
  readonly width?: number;
  readonly height?: number;
  readonly averageBitrateBitsPerSecond?: number;
  readonly peakBitrateBitsPerSecond?: number;
  readonly averageFramesPerSecond?: number;
  readonly declaredFramesPerSecond?: number | undefined;
  readonly longestKeyframeIntervalSeconds?: number | undefined;
  readonly audioDriftMilliseconds?: number | undefined;
  readonly timestampJumps?: number;
  readonly droppedConnections?: number;
  /** Milliseconds since 1970; told as `lastDroppedAt`. */
  readonly lastDroppedAtMs?: number | undefined;
  readonly awaySeconds?: number;
  readonly silentSeconds?: number | undefined;
}

/** A destination of a broadcast, as it is told; undefined values are left out. */
export interface RestreamStateMessage {
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  /** Place in the restreams of the live stream, from 0. */
  readonly position: number;
  readonly name: string;
  readonly state: string;
  /** Since when it is in this state; milliseconds since 1970. */
  readonly sinceMs: number;
  readonly reason: string | undefined;
  readonly lastError: string | undefined;
  readonly bitrateBitsPerSecond: number;
  readonly droppedFrames: number;
  readonly retries: number;
}

/** The greeting. `lastEventId` is the event after which this connection goes on. */
export function helloMessage(lastNumber: number, environment: string): string {
  return JSON.stringify({ type: 'hello', lastEventId: String(lastNumber), environment });
}

/** Events that were asked for are no longer kept. `oldestEventId` is the first that follows. */
export function gapMessage(oldestNumber: number): string {
  return JSON.stringify({ type: 'gap', oldestEventId: String(oldestNumber) });
}

/** The answer to a `ping` that a client sent as a message. */
export const pongMessage = JSON.stringify({ type: 'pong' });

/** An event: what webhooks get of it, with its number in its project as `eventId`. */
export function eventMessage(event: StoredEvent): string {
  return JSON.stringify({ eventId: String(event.number), ...eventBody(event) });
}

/** How a broadcast does at the time `atMs`. */
export function statsMessage(
  { projectId, encoder, lastDroppedAtMs, ...facts }: BroadcastStatsMessage,
  atMs: number,
): string {
  return JSON.stringify({
    type: broadcastStatsType,
    emittedAt: formatAtom(atMs),
    ...facts,
    encoder: encoder === '' ? undefined : encoder,
    lastDroppedAt: lastDroppedAtMs === undefined ? undefined : formatAtom(lastDroppedAtMs),
  });
}

/** How a destination does at the time `atMs`. */
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
