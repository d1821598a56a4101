import type { Connection, Transaction } from '../../store/connection.ts';
import type { StopReason } from './recording-writer.ts';

export interface NewRecording {
  readonly videoId: string;
  readonly projectId: string;
  readonly liveStreamId: string;
  readonly broadcastId: string;
  readonly startedAtMs: number;
}

/** A crash loses no open recording. Its settings are those of the live stream at the close. */
export interface RecordingRepository {
  /** Returns false when the live stream was deleted. */
  open(recording: NewRecording): Promise<boolean>;
  /** False also when another server has taken it over. */
  isOpen(videoId: string): Promise<boolean>;
  /** True also on another server. */
  exists(videoId: string): Promise<boolean>;
  /** Returns true when the recording has become a video that is not deleted. */
  hasVideo(videoId: string): Promise<boolean>;
  /** Returns false when the video is deleted, or has no source. */
  sourceExtended(videoId: string, sourceBytes: number, transaction: Transaction): Promise<boolean>;
  /** Tells whether the broadcast may continue, on this server or another one. */
  mayContinue(recording: NewRecording): Promise<boolean>;
  close(videoId: string): Promise<void>;
  /** Lists unfinished recordings of this server. */
  unfinished(): Promise<NewRecording[]>;
  /** Divides the recordings of another server among this one and the others, and tells them. */
  takeOver(nodeId: string): Promise<void>;
  /** Calls `listener` when this server may have got recordings of another one. @returns stops listening */
  onTakenOver(listener: () => void): () => void;
  /**
   * Returns false when another server has taken it over. `sourceBytes`: undefined while the source must still be joined.
   */
  convertToVideo(
    recording: NewRecording,
    sourceBytes: number | undefined,
    atMs: number,
    transaction: Transaction,
  ): Promise<boolean>;
  sourceReady(videoId: string, sourceBytes: number, atMs: number, transaction: Transaction): Promise<boolean>;
  sourceFailed(videoId: string, failure: string, atMs: number, connection?: Connection): Promise<void>;
  remove(videoId: string, connection?: Connection): Promise<void>;
  appendStoppedEvent(
    recording: NewRecording,
    stop: { readonly reason: StopReason; readonly videoId: string | undefined },
    atMs: number,
    transaction: Transaction,
  ): Promise<void>;
  transaction<Result>(work: (transaction: Transaction) => Promise<Result>): Promise<Result>;
}
