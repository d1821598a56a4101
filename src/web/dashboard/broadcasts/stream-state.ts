import type { LiveStream } from '../api/api-types.ts';

/** State of a live stream. `waiting`: its encoder's connection was lost; `stopping`: its encoder stopped, and the broadcast ends soon. */
export type StreamState = 'live' | 'waiting' | 'stopping' | 'off';

/** State of a live stream: what was told of its broadcast, or what was loaded while nothing was told. */
export function streamStateOf(
  isBroadcasting: boolean,
  told: { readonly state?: Exclude<StreamState, 'off'> | undefined } | undefined,
): StreamState {
  return told?.state ?? (isBroadcasting ? 'live' : 'off');
}

/** The same live streams, of which this one no longer broadcasts: what was loaded before its end says that it does. */
export function withBroadcastEnded<Stream extends Pick<LiveStream, 'liveStreamId' | 'broadcasting'>>(
  streams: readonly Stream[],
  liveStreamId: string,
): Stream[] {
  return streams.map(stream =>
    stream.liveStreamId === liveStreamId ? { ...stream, broadcasting: false } : stream,
  );
}
