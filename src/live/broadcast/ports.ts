import type { TransportStats } from '../../shared/network/transport-stats.ts';
import type { IngestStats } from '../health/ingest-health.ts';
import type { BroadcastState, EndReason } from './broadcast-state.ts';
import type { ContinuedRecording } from './broadcast-subscriber.ts';

export interface PublisherConnection {
  readonly connectionId: string;
  readonly protocol: string;
  readonly remoteAddress: string;
  /** The encoder's own name, or `''`. */
  readonly encoder: string;
  /** Players cannot play its video. */
  readonly needsEncoding?: boolean;
  refuse(description: string): void;
  close(description: string): void;
  pause(): void;
  resume(): void;
  /** Undefined for protocols over TCP. */
  transport?(): TransportStats | undefined;
}

export interface OpenedRecord {
  readonly liveStreamId: string;
  readonly projectId: string;
  readonly state: BroadcastState;
  readonly startedAtMs: number;
  readonly protocol: string;
  readonly remoteAddress: string;
  readonly encoder: string;
}

/** A broadcast that another server began. */
export interface ContinuedBroadcast {
  readonly startedAtMs: number;
  /** Counts the servers that had it. */
  readonly claim: number;
  /** Number beyond all segments, parts and init sections that were listed. */
  readonly continuesAt: number;
  /** Undefined when nothing was listed. */
  readonly targetDurationSeconds: number | undefined;
  readonly recording: ContinuedRecording | undefined;
}

/** Claims of servers that share a database: one of them receives a live stream. */
export interface BroadcastClaims {
  /** Opens a broadcast, or continues the one that waits. Undefined while another server receives the live stream. */
  claim(
    record: OpenedRecord,
  ): Promise<
    { readonly broadcastId: string; readonly continued: ContinuedBroadcast | undefined } | undefined
  >;
  /** Leaves a broadcast to the next server that claims it. */
  release(broadcastId: string): Promise<void>;
  /** Tells whether another server receives publishers. */
  canMove(): Promise<boolean>;
}

/** Stores the records of broadcasts. Each call resolves when its record is stored. */
export interface BroadcastJournal {
  opened(record: OpenedRecord): Promise<string>;
  changed(
    broadcastId: string,
    change: {
      readonly state?: BroadcastState;
      readonly encoder?: string;
      readonly videoCodec?: string;
      readonly audioCodec?: string;
      readonly width?: number;
      readonly height?: number;
    },
  ): Promise<void>;
  ended(broadcastId: string, endedAtMs: number, reason: EndReason, health?: IngestStats): Promise<void>;
}

/** The publisher that was connected when its broadcast was ended from outside. Most encoders reconnect by themselves. */
export interface CutOffPublisher {
  readonly remoteAddress: string;
  /** Given when it connected, or `''`. */
  readonly encoder: string;
  /** Given with its media: OBS connects as FMLE. Missing in what earlier versions stored. */
  readonly name?: string;
  /** Time when it was cut off, or last tried to return. */
  readonly seenAtMs: number;
  /** The publisher is accepted after it has stayed away for this long. */
  readonly waitMs: number;
}

/** Stores the publisher that `complete` has cut off, by live stream. */
export type StoreCutOff = (liveStreamId: string, publisher: CutOffPublisher) => Promise<void>;

export interface LiveObserver {
  partListed(lagMs: number): void;
  /** `lagMs` counts from the arrival of the last frame. */
  segmentListed(lagMs: number): void;
  renditionPartListed?(lagMs: number): void;
  qualityDropped?(quality: string, reason: string): void;
  packagerFailed(): void;
  /** `dropped` by us, or `missing` in the publisher's media. */
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
  /** Time for a publisher that stopped to resume the same broadcast. */
  readonly stopGraceMs: number;
  readonly keyframeTimeoutMs: number;
  readonly maxPixels: number;
  readonly maxEncoders: number;
  readonly maxEncodersPerProject: number;
  /** Time that an ended broadcast stays in memory. */
  readonly endedKeptMs: number;
}
