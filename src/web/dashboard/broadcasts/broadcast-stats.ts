import type { IngestTrack } from '../api/api-types.ts';

interface TransportHealth {
  readonly roundTripMilliseconds?: number;
  readonly packetsReceived: number;
  readonly packetsLost: number;
  readonly packetsRecovered: number;
}

export interface BroadcastStats {
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly state: 'live' | 'waiting' | 'stopping';
  readonly durationSeconds: number;
  readonly viewers: number;
  readonly bitrateBitsPerSecond: number;
  readonly framesPerSecond: number;
  readonly averageBitrateBitsPerSecond?: number;
  readonly peakBitrateBitsPerSecond?: number;
  readonly declaredFramesPerSecond?: number;
  readonly keyframeIntervalSeconds?: number;
  readonly longestKeyframeIntervalSeconds?: number;
  readonly audioDriftMilliseconds?: number;
  readonly droppedFrames: number;
  readonly missingFrames: number;
  readonly timestampJumps?: number;
  readonly droppedConnections?: number;
  readonly awaySeconds?: number;
  readonly protocol?: string;
  readonly encoder?: string;
  readonly videoCodec?: string;
  readonly audioCodec?: string;
  readonly width?: number;
  readonly height?: number;
  readonly tracks?: readonly IngestTrack[];
  readonly transport?: TransportHealth;
}

interface Message {
  readonly type: string;
}

export function statsOf(message: Message): BroadcastStats | undefined {
  return message.type === 'broadcast.stats' ? (message as unknown as BroadcastStats) : undefined;
}

export function isBroadcastChange(message: Message): boolean {
  return message.type === 'live-stream.broadcast.started' || isBroadcastEnd(message);
}

export function isBroadcastEnd({ type }: Message): boolean {
  return type === 'live-stream.broadcast.ended';
}
