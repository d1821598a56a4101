import type { LiveStream } from '../api/api-types.ts';

/** `waiting`: the encoder may return; `stopping`: the encoder stopped, and the broadcast ends soon. */
export type StreamState = 'live' | 'waiting' | 'stopping' | 'off';

export function streamStateOf(
  isBroadcasting: boolean,
  told: { readonly state?: Exclude<StreamState, 'off'> | undefined } | undefined,
): StreamState {
  return told?.state ?? (isBroadcasting ? 'live' : 'off');
}

export function withBroadcastEnded<Stream extends Pick<LiveStream, 'liveStreamId' | 'broadcasting'>>(
  streams: readonly Stream[],
  liveStreamId: string,
): Stream[] {
  return streams.map(stream =>
    stream.liveStreamId === liveStreamId ? { ...stream, broadcasting: false } : stream,
  );
}
