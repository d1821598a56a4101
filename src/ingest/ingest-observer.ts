import type { PublisherCloseReason } from './publish-gate.ts';

/** Receives events of the RTMP server for metrics. Reasons are kebab-case and come from a small set. */
export interface IngestObserver {
  connectionOpened(): void;
  connectionClosed(reason: string): void;
  /** Bytes received since the last call. */
  bytesIn(count: number): void;
  publisherOpened(): void;
  publisherClosed(reason: PublisherCloseReason): void;
  /** A connection, a publish or a play was refused. */
  refused(reason: string): void;
}

export const noopIngestObserver: IngestObserver = {
  connectionOpened() {},
  connectionClosed() {},
  bytesIn() {},
  publisherOpened() {},
  publisherClosed() {},
  refused() {},
};
