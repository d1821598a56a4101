import type { BroadcastState, EndReason } from './broadcast.ts';

/** What the live room asks of whoever takes streams in. A publisher's connection, as the broadcast sees it. */
export interface PublisherLink {
  readonly connectionId: string;
  readonly protocol: string;
  readonly remoteAddress: string;
  /** Tells the encoder why, then closes. */
  refuse(description: string): void;
  /** Closes after a regular end. */
  close(description: string): void;
  /** Stops and resumes reading from the encoder. */
  pause(): void;
  resume(): void;
}

/** A tag as it came in. */
export interface LiveTag {
  readonly kind: 'audio' | 'video' | 'script';
  readonly timestampMs: number;
  readonly body: Buffer;
}

/** Where a broadcast is written down. */
export interface BroadcastJournal {
  opened(record: {
    broadcastId: string;
    liveStreamId: string;
    projectId: string;
    startedAtMs: number;
    protocol: string;
    remoteAddress: string;
  }): void;
  changed(broadcastId: string, change: { state: BroadcastState; codecs?: string }): void;
  ended(broadcastId: string, endedAtMs: number, reason: EndReason): void;
}

/** What the live room reports of its speed and size. */
export interface LiveObserver {
  /** How long after its last frame arrived a part could be fetched. */
  partListed(lagMs: number): void;
  /** How long after its last frame arrived a segment could be fetched. */
  segmentListed(lagMs: number): void;
}

/** Settings of every broadcast. */
export interface LiveSettings {
  readonly partTargetMs: number;
  readonly segmentTargetMs: number;
  readonly windowMs: number;
  readonly windowBytes: number;
  readonly reconnectGraceMs: number;
  readonly keyframeTimeoutMs: number;
  /** How long an ended broadcast can still be fetched. */
  readonly endedKeptMs: number;
  /** How long a publisher stays connected after its broadcast was completed. */
  readonly completedLingerMs: number;
}
