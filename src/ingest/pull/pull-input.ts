import type { FlvTag } from '../../media/flv/flv-tag.ts';
import type { ResolveHost } from '../../shared/network/target-address.ts';

/** The message is shown to the owner of the live stream. It never contains the path, query or password of the source. */
export class PullError extends Error {
  override readonly name = 'PullError';
}

export interface PullEvents {
  /** Of an MPEG transport stream. */
  bytes(bytes: Buffer): void;
  tag(tag: FlvTag): void;
}

/** A source that sends media. */
export interface PullInput {
  /** The reason of the end, in plain words. Never rejects. */
  readonly ended: Promise<string>;
  readonly remoteAddress: string;
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

export interface TargetRules {
  readonly resolve: ResolveHost;
  /** Allows loopback and private addresses. */
  readonly allowPrivate: boolean;
}
