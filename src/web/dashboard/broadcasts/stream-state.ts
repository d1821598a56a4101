import type { BroadcastStats } from './broadcast-stats.ts';

/** How it stands with a live stream. `waiting`: its publisher is gone and may come back. */
export type StreamState = 'live' | 'waiting' | 'off';

/** State of a live stream: what the feed says of it, or what was loaded while the feed says nothing. */
export function streamStateOf(isBroadcasting: boolean, stats: BroadcastStats | undefined): StreamState {
  return stats?.state ?? (isBroadcasting ? 'live' : 'off');
}
