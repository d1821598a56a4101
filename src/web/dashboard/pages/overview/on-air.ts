import type { LiveStream } from '../../api/api-types.ts';
import type { BroadcastStats } from '../live/broadcast-stats.ts';

/** A live stream that broadcasts, and what the feed said of it last. */
export interface OnAir {
  readonly stream: LiveStream;
  /** undefined until the feed tells of it, within a second. */
  readonly stats: BroadcastStats | undefined;
}

/** Live streams that broadcast, each once, in the order in which they are given. */
export function onAirOf(
  streams: readonly LiveStream[],
  stats: ReadonlyMap<string, BroadcastStats>,
): readonly OnAir[] {
  const byId = new Map(streams.map(stream => [stream.liveStreamId, stream]));
  return [...byId.values()]
    .map(stream => ({ stream, stats: stats.get(stream.liveStreamId) }))
    .filter(({ stream, stats: told }) => told !== undefined || stream.broadcasting);
}

/** Those that the feed tells of and nobody knows the name of yet. */
export function unknownIn(
  streams: readonly LiveStream[],
  stats: ReadonlyMap<string, BroadcastStats>,
): readonly string[] {
  const known = new Set(streams.map(({ liveStreamId }) => liveStreamId));
  return [...stats.keys()].filter(liveStreamId => !known.has(liveStreamId));
}
