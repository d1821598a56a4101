import type { Connection, Transaction } from '../../store/connection.ts';
import type { SpokenSegment } from './transcription-client.ts';

export interface TranscriptPart {
  /** Start from the start of the video. */
  readonly startMs: number;
  readonly endMs: number;
  /** Language as the model calls it. */
  readonly language: string | undefined;
  /** Segments from the start of the video. */
  readonly segments: readonly SpokenSegment[];
}

export interface TranscriptState {
  readonly status: 'waiting' | 'processing' | 'completed' | 'failed';
  readonly progressPercent: number;
  readonly language: string | undefined;
  readonly failure: string | undefined;
}

export interface GeneratedCaptions {
  readonly language: string;
  /** Becomes the language of a video that has none. */
  readonly isDetected: boolean;
  readonly file: string;
  readonly bytes: number;
}

/** A summary that waits for the text of its video. */
export interface WaitingSummary {
  readonly summaryId: string;
  readonly attributes: readonly ('abstract' | 'takeaways')[];
}

export interface SummaryFailure {
  /** `unprocessable`: there is nothing to summarize. */
  readonly status: 'failed' | 'unprocessable';
  /** A sentence for the owner of the video. */
  readonly reason: string;
}

export interface TranscriptRepository {
  state(videoId: string, connection?: Connection): Promise<TranscriptState | undefined>;
  /** Lists the parts of an earlier attempt, in the order of the video. */
  parts(videoId: string): Promise<TranscriptPart[]>;
  /** Waits again from the start, without the parts so far. */
  restart(videoId: string, transaction: Transaction): Promise<void>;
  markStarted(videoId: string, transaction: Transaction): Promise<void>;
  addPart(videoId: string, part: TranscriptPart, percent: number, transaction: Transaction): Promise<void>;
  /** Captions that were uploaded or edited, which are not replaced. */
  hasOwnCaptions(videoId: string, language: string): Promise<boolean>;
  /**
   * Stores the captions and emits an event. Returns the file that no row names any more: the replaced one, or the new one
   * when the video has captions of the language that are not generated.
   */
  complete(
    videoId: string,
    captions: GeneratedCaptions,
    transaction: Transaction,
  ): Promise<{ readonly isStored: boolean; readonly unusedFile: string | undefined }>;
  fail(videoId: string, reason: string, transaction: Transaction): Promise<void>;
  /** The captions that a summary is made of: in the language of the video, or else the default or the first ones. */
  captionsFile(videoId: string, connection?: Connection): Promise<string | undefined>;
  waitingSummary(videoId: string, connection?: Connection): Promise<WaitingSummary | undefined>;
  /** Emits an event. Does nothing when the summary does not wait any more. */
  completeSummary(
    videoId: string,
    text: { readonly abstract?: string | undefined; readonly takeaways?: readonly string[] | undefined },
    transaction: Transaction,
  ): Promise<void>;
  failSummary(videoId: string, failure: SummaryFailure, transaction: Transaction): Promise<void>;
}
