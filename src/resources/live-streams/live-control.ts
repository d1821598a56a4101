/** What this resource asks of the live room. */
export interface LiveControl {
  /** Whether media is being received and published, or its publisher may still come back. */
  isBroadcasting(liveStreamId: string): boolean;
  /** Ends a running broadcast soon; does nothing when there is none. */
  complete(liveStreamId: string): void;
  /** Ends a running broadcast and forgets the stream; resolves when it has ended. */
  remove(liveStreamId: string): Promise<void>;
}
