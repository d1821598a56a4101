import type { LiveStream } from '../api/api-types.ts';

export interface LiveNowStream<Stats> {
  readonly stream: LiveStream;
  readonly stats: Stats | undefined;
}

/** The feed (`stats` by live stream) is ahead of the loaded list. */
export function liveNowStreams<Stats>(
  streams: readonly LiveStream[],
  stats: ReadonlyMap<string, Stats>,
): readonly LiveNowStream<Stats>[] {
  const byId = new Map(streams.map(stream => [stream.liveStreamId, stream]));
  return [...byId.values()]
    .map(stream => ({ stream, stats: stats.get(stream.liveStreamId) }))
    .filter(({ stream, stats: told }) => told !== undefined || stream.broadcasting);
}

export function unlistedIds(
  streams: readonly Pick<LiveStream, 'liveStreamId'>[],
  stats: ReadonlyMap<string, unknown>,
): readonly string[] {
  const known = new Set(streams.map(({ liveStreamId }) => liveStreamId));
  return [...stats.keys()].filter(liveStreamId => !known.has(liveStreamId));
}
