import type { LiveStream } from '../../api/api-types.ts';

/** A live stream that broadcasts, and what the feed said of it last. */
export interface LiveNowStream<Stats> {
  readonly stream: LiveStream;
  /** undefined until the feed tells of it, within a second. */
  readonly stats: Stats | undefined;
}

/**
 * Live streams that broadcast, each once, in the order in which they are given.
 *
 * @param stats what the feed says, by the id of the live stream; it knows of beginnings and ends before lists are loaded anew
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

/** Ids that the feed tells of and nobody knows the name of yet. */
export function unlistedIds(
  streams: readonly Pick<LiveStream, 'liveStreamId'>[],
  stats: ReadonlyMap<string, unknown>,
): readonly string[] {
  const known = new Set(streams.map(({ liveStreamId }) => liveStreamId));
  return [...stats.keys()].filter(liveStreamId => !known.has(liveStreamId));
}
