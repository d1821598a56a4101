import type { RestreamDestination } from './live-stream.ts';

export interface LiveControl {
  /** True while media is received and published, and while a lost publisher may still reconnect. */
  isBroadcasting(liveStreamId: string): boolean;
  complete(liveStreamId: string): Promise<void> | void;
  /** Ends a running broadcast and forgets the live stream. Resolves when it has ended. */
  remove(liveStreamId: string): Promise<void>;
}

export interface RestreamControl {
  /** Replaces the destinations of a running broadcast; does nothing when there is none. */
  update(liveStreamId: string, destinations: readonly RestreamDestination[]): void;
}
