import type { IngestStats } from '../health/ingest-health.ts';
import type { BroadcastState, EndReason } from './broadcast-state.ts';

/** What the live room asks of whoever takes streams in. A publisher's connection, as the broadcast sees it. */
export interface PublisherConnection {
  readonly connectionId: string;
  readonly protocol: string;
  readonly remoteAddress: string;
  /** What the encoder calls itself, or `''`. */
  readonly encoder: string;
  /** Tells the encoder why, then closes. */
  refuse(description: string): void;
  /** Closes after a regular end. */
  close(description: string): void;
  /** Stops and resumes reading from the encoder. */
  pause(): void;
  resume(): void;
}

/** Where a broadcast is written down. */
export interface BroadcastJournal {
  /** Writes down that one began; its id. */
  opened(record: {
    readonly liveStreamId: string;
    readonly projectId: string;
    readonly state: BroadcastState;
    readonly startedAtMs: number;
    readonly protocol: string;
    readonly remoteAddress: string;
    readonly encoder: string;
  }): string;
  changed(
    broadcastId: string,
    change: {
      readonly state?: BroadcastState;
      readonly videoCodec?: string;
      readonly audioCodec?: string;
      readonly width?: number;
      readonly height?: number;
    },
  ): void;
  ended(broadcastId: string, endedAtMs: number, reason: EndReason, health: IngestStats): void;
}

/** What the live room reports of its speed and size. */
export interface LiveObserver {
  /** How long after its last frame arrived a part could be fetched. */
  partListed(lagMs: number): void;
  /** How long after its last frame arrived a segment could be fetched. */
  segmentListed(lagMs: number): void;
  /** How long after its last frame arrived an encoded part beside the source could be fetched. */
  renditionPartListed?(lagMs: number): void;
  /** A quality is made no more in its broadcast. */
  qualityDropped?(quality: string, reason: string): void;
  /** A packager or an encoder ended without being asked to. */
  packagerFailed(): void;
  /** Frames of picture are not shown: `dropped` by us, or `missing` from what came. */
  framesLost(how: 'dropped' | 'missing', count: number): void;
  broadcastEnded(reason: EndReason): void;
}

/** Settings of every broadcast. */
export interface LiveSettings {
  readonly partTargetMs: number;
  readonly segmentTargetMs: number;
  readonly windowMs: number;
  readonly windowBytes: number;
  /** The time that a publisher whose connection was lost may take to come back. */
  readonly reconnectGraceMs: number;
  /** The time that a publisher that stopped may take to publish again in the same broadcast. */
  readonly stopGraceMs: number;
  readonly keyframeTimeoutMs: number;
  /** Largest picture of a publisher: width times height. */
  readonly maxPixels: number;
  /** Broadcasts that are encoded at once, by all projects and by one. */
  readonly maxEncoders: number;
  readonly maxEncodersPerProject: number;
  /** How long an ended broadcast can still be fetched. */
  readonly endedKeptMs: number;
  /** How long a publisher stays connected after its broadcast was completed. */
  readonly completedLingerMs: number;
}
