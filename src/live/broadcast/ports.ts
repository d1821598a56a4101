import type { IngestStats } from '../health/ingest-health.ts';
import type { BroadcastState, EndReason } from './broadcast-state.ts';

/** A publisher's connection, as its broadcast uses it. */
export interface PublisherConnection {
  readonly connectionId: string;
  readonly protocol: string;
  readonly remoteAddress: string;
  /** The name that the encoder gives itself, or `''`. */
  readonly encoder: string;
  /** Tells the encoder the reason, then closes. */
  refuse(description: string): void;
  /** Closes after a regular end. */
  close(description: string): void;
  /** Stops and resumes reading from the encoder. */
  pause(): void;
  resume(): void;
}

/** Stores the history of broadcasts. */
export interface BroadcastJournal {
  /** Stores a new broadcast and returns its id. */
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

export interface LiveObserver {
  /** A part can be fetched. @param lagMs since its last frame arrived */
  partListed(lagMs: number): void;
  /** A segment can be fetched. @param lagMs since its last frame arrived */
  segmentListed(lagMs: number): void;
  /** An encoded part of a rung can be fetched. @param lagMs since its last frame arrived */
  renditionPartListed?(lagMs: number): void;
  qualityDropped?(quality: string, reason: string): void;
  /** A packager or an encoder died or hung. */
  packagerFailed(): void;
  /** Video frames that were `dropped` by us, or were `missing` in the publisher's media. */
  framesLost(how: 'dropped' | 'missing', count: number): void;
  broadcastEnded(reason: EndReason): void;
}

export interface LiveSettings {
  readonly partTargetMs: number;
  readonly segmentTargetMs: number;
  readonly windowMs: number;
  readonly windowBytes: number;
  /** Time for a lost publisher to reconnect. */
  readonly reconnectGraceMs: number;
  /** Time for a publisher that stopped to continue the same broadcast. */
  readonly stopGraceMs: number;
  readonly keyframeTimeoutMs: number;
  readonly maxPixels: number;
  /** Maximum of transcoded broadcasts at once, over all projects. */
  readonly maxEncoders: number;
  readonly maxEncodersPerProject: number;
  /** Time for which an ended broadcast can still be fetched from memory. */
  readonly endedKeptMs: number;
  /** Time for which a publisher stays connected after its broadcast was completed. */
  readonly completedLingerMs: number;
}
