import type { PublisherCloseReason } from './publish-gate.ts';

/** Reasons are kebab-case and come from a small set. */
export interface IngestObserver {
  connectionOpened(): void;
  connectionClosed(reason: string): void;
  bytesIn(count: number): void;
  publisherOpened(): void;
  publisherClosed(reason: PublisherCloseReason): void;
  refused(reason: string): void;
  /** Counts packets of protocols over UDP since the last call. */
  packets(received: number, lost: number, recovered: number): void;
}

export const noopIngestObserver: IngestObserver = {
  connectionOpened() {},
  connectionClosed() {},
  bytesIn() {},
  publisherOpened() {},
  publisherClosed() {},
  refused() {},
  packets() {},
};
