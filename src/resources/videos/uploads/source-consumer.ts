import type { Connection, Transaction } from '../../../store/connection.ts';

/** Works with the sources of videos. */
export interface SourceConsumer {
  /** Called when a file begins to arrive, and when it is there. */
  readonly expectSource: () => void;
  /** Called in the transaction that makes a source complete. */
  readonly sourceReady: (videoId: string, transaction: Transaction) => Promise<void>;
  /** Puts the parts of a recording together once more. */
  readonly retryRecording: (videoId: string, transaction: Transaction) => Promise<void>;
  /** Tries once more what failed after the source was complete. Returns false when nothing did. */
  readonly retryEncoding: (videoId: string, transaction: Transaction) => Promise<boolean>;
  readonly sourceFailed: (videoId: string, reason: string, transaction: Transaction) => Promise<void>;
  /** Tells whether encoding failed. Such a video accepts another source. */
  readonly hasEncodingFailed: (videoId: string, connection?: Connection) => Promise<boolean>;
  /** Called in the transaction that begins another upload of a failed video. */
  readonly sourceReplaced: (videoId: string, transaction: Transaction) => Promise<void>;
}
