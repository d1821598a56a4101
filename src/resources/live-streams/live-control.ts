export interface LiveControl {
  /** True while media is received and published, and while a lost publisher may still reconnect. */
  isBroadcasting(liveStreamId: string): boolean;
  /** Ends a running broadcast soon; does nothing when there is none. */
  complete(liveStreamId: string): void;
  /** Ends a running broadcast and forgets the live stream. Resolves when it has ended. */
  remove(liveStreamId: string): Promise<void>;
}
