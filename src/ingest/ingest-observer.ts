import type { PublisherCloseReason } from './publish-gate.ts';

/** Is told what happens at the RTMP door, for metrics. All reasons are kebab-case and of a small set. */
export interface IngestObserver {
  connectionOpened(): void;
  connectionClosed(reason: string): void;
  /** Bytes that came in since the last call. */
  bytesIn(count: number): void;
  publisherOpened(): void;
  publisherClosed(reason: PublisherCloseReason): void;
  /** A connection, a publish or a play was told no. */
  refused(reason: string): void;
}

/** An observer that takes no notice. */
export const noopIngestObserver: IngestObserver = {
  connectionOpened() {},
  connectionClosed() {},
  bytesIn() {},
  publisherOpened() {},
  publisherClosed() {},
  refused() {},
};
