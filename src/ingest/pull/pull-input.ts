import type { MediaEvent } from '../../media/samples/media-sample.ts';
import type { ResolveHost } from '../../shared/network/target-address.ts';
import type { TransportStats } from '../../shared/network/transport-stats.ts';

/** The message is shown to the owner of the live stream. It never contains the path, query or password of the source. */
export class PullError extends Error {
  override readonly name = 'PullError';
}

export interface PullEvents {
  /** Receives bytes of an MPEG transport stream. */
  bytes(bytes: Buffer): void;
  /** @param bytes that were received @param read passes on what they hold */
  media(bytes: number, read: (emit: (event: MediaEvent) => void) => void): void;
}

/** A source that sends media. */
export interface PullInput {
  /** The reason of the end, in plain words. Never rejects. */
  readonly ended: Promise<string>;
  readonly remoteAddress: string;
  /** Absent where the protocol cannot wait. */
  pause?(): void;
  resume?(): void;
  /** Undefined for protocols over TCP. */
  transport?(): TransportStats;
  stop(): Promise<void>;
}

export interface TargetRules {
  readonly resolve: ResolveHost;
  /** Allows loopback and private addresses. */
  readonly allowPrivate: boolean;
}

/** @param codec as people call it */
export function unsupportedVideoText(codec: string): string {
  return `The source sends ${codec}, which is not supported. Choose H.264 or HEVC in the source.`;
}
