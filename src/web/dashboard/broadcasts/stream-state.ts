import type { LiveStream } from '../api/api-types.ts';

/** `waiting`: the encoder disconnected and may return; `stopping`: the encoder stopped, and the broadcast ends soon. */
export type StreamState = 'live' | 'waiting' | 'stopping' | 'off';

/** Prefers what the feed says over what was loaded. */
export function streamStateOf(
  isBroadcasting: boolean,
  told: { readonly state?: Exclude<StreamState, 'off'> | undefined } | undefined,
): StreamState {
  return told?.state ?? (isBroadcasting ? 'live' : 'off');
}

/** Marks a stream as ended that was loaded before its broadcast ended. */
export function withBroadcastEnded<Stream extends Pick<LiveStream, 'liveStreamId' | 'broadcasting'>>(
  streams: readonly Stream[],
  liveStreamId: string,
): Stream[] {
  return streams.map(stream =>
    stream.liveStreamId === liveStreamId ? { ...stream, broadcasting: false } : stream,
  );
}
