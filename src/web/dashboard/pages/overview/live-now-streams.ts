import type { LiveStream } from '../../api/api-types.ts';

export interface LiveNowStream<Stats> {
  readonly stream: LiveStream;
  /** Undefined until the feed mentions the stream, within a second. */
  readonly stats: Stats | undefined;
}

/**
 * Selects the streams that are live, in their order.
 *
 * @param stats by the id of the live stream; the feed is ahead of the loaded list
 */
export function liveNowStreams<Stats>(
  streams: readonly LiveStream[],
  stats: ReadonlyMap<string, Stats>,
): readonly LiveNowStream<Stats>[] {
  const byId = new Map(streams.map(stream => [stream.liveStreamId, stream]));
  return [...byId.values()]
    .map(stream => ({ stream, stats: stats.get(stream.liveStreamId) }))
    .filter(({ stream, stats: told }) => told !== undefined || stream.broadcasting);
}

/** Ids from the feed that no list has. */
export function unlistedIds(
  streams: readonly Pick<LiveStream, 'liveStreamId'>[],
  stats: ReadonlyMap<string, unknown>,
): readonly string[] {
  const known = new Set(streams.map(({ liveStreamId }) => liveStreamId));
  return [...stats.keys()].filter(liveStreamId => !known.has(liveStreamId));
}
