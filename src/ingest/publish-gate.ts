import type { MediaEvent } from '../media/samples/media-sample.ts';
import type { TransportStats } from '../shared/network/transport-stats.ts';

type IngestProtocol = 'rtmp' | 'rtmps' | 'srt' | 'whip' | 'pull';

/** A request to publish, not verified yet. */
export interface PublishRequest {
  readonly connectionId: string;
  readonly protocol: IngestProtocol;
  readonly remoteAddress: string;
  /** Decoded, without query; 1..256 printable ASCII characters. Must not be logged unmasked. */
  readonly streamKey: string;
  /** Sent after the stream key, without `?`; `''` when there is none. Untrusted, and of any length that the protocol allows. */
  readonly query: string;
  /** The encoder's own name, at most 64 printable characters, or `''`. */
  readonly encoder: string;
  /** True for video that players cannot play. */
  readonly needsEncoding?: boolean;
  /** Aborted when the connection ends before the decision. */
  readonly signal: AbortSignal;
}

/**
 * `unpublished`: the encoder stopped. `ended-by-server`: {@link PublisherConnection.refuse} or
 * {@link PublisherConnection.close}, or the sink threw.
 */
export type PublisherCloseReason =
  | 'unpublished'
  | 'connection-closed'
  | 'connection-error'
  | 'idle-timeout'
  | 'protocol-error'
  | 'server-stopped'
  | 'ended-by-server';

/** Reason of {@link PublisherConnection.close}; `ended-by-server` unless given. */
export type PublisherEndReason = Extract<PublisherCloseReason, 'ended-by-server' | 'idle-timeout'>;

export interface PublisherSink {
  media(event: MediaEvent): void;
  closed(reason: PublisherCloseReason): void;
}

export interface PublisherConnection {
  readonly connectionId: string;
  readonly protocol: IngestProtocol;
  readonly remoteAddress: string;
  /** The encoder's own name, or `''`. */
  readonly encoder: string;
  /** True for video that players cannot play. */
  readonly needsEncoding?: boolean;
  readonly bytesIn: number;
  /** Tells the publisher why its media cannot be used, then closes. Does nothing when the publisher is gone. */
  refuse(description: string): void;
  /**
   * Tells the publisher that the broadcast is over for it, or, with the reason `idle-timeout`, that it sends no media, then
   * closes. Does nothing when the publisher is gone.
   */
  close(description: string, reason?: PublisherEndReason): void;
  /**
   * Slows the publisher where the protocol can, and drops media where it cannot. What was already received may still
   * be delivered.
   */
  pause(): void;
  resume(): void;
  /** Undefined for protocols over TCP. */
  transport?(): TransportStats | undefined;
}

/** `reason` is kebab-case, for log and metrics; `description` is shown to the broadcaster. */
export type PublishDecision =
  | { readonly accepted: true; readonly sink: PublisherSink }
  | { readonly accepted: false; readonly reason: string; readonly description: string };

/** Decides before the encoder gets an answer and before any media is accepted. */
export interface PublishGate {
  /** Ends publishers that send no audio or video for so long. */
  readonly mediaTimeoutMs?: number;
  /** Decides about a publisher. If the connection ends before the decision, an accepted sink is closed at once. */
  request(request: PublishRequest, connection: PublisherConnection): Promise<PublishDecision>;
}
