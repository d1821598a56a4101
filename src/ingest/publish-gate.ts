import type { FlvTag } from '../media/flv/flv-tag.ts';

/** A broadcaster's request to publish under a stream key, which is not verified yet. */
export interface PublishRequest {
  /** The TCP connection, as in the log. */
  readonly connectionId: string;
  readonly protocol: 'rtmp' | 'rtmps';
  /** IP address without a port. */
  readonly remoteAddress: string;
  /** `s` or `live`. */
  readonly app: string;
  /** Decoded, without query; 1..256 printable ASCII characters. Must not be logged unmasked. */
  readonly streamKey: string;
  /** The encoder's `flashVer`, at most 64 printable characters, or `''`. */
  readonly encoder: string;
  /** FourCCs that the encoder announced (Enhanced RTMP), `*` for any. */
  readonly fourCcList: readonly string[];
}

/**
 * Reason for the end of a publisher: `unpublished` when the encoder sent FCUnpublish, deleteStream or closeStream,
 * `ended-by-server` after {@link PublisherConnection.end} or when the sink threw.
 */
export type PublisherCloseReason =
  | 'unpublished'
  | 'connection-closed'
  | 'connection-error'
  | 'idle-timeout'
  | 'protocol-error'
  | 'server-stopped'
  | 'ended-by-server';

/** Receives the media of one accepted publisher. */
export interface PublisherSink {
  /** Called in the order of arrival. */
  tag(tag: FlvTag): void;
  /** Called once, after the last tag. */
  closed(reason: PublisherCloseReason): void;
}

/** Status code that tells an encoder why its publishing ended. */
export type EndCode =
  | 'NetStream.Publish.BadName'
  | 'NetStream.Publish.Denied'
  | 'NetStream.Unpublish.Success'
  | 'NetStream.Publish.Rejected';

/** Controls of a publisher's connection. */
export interface PublisherConnection {
  readonly connectionId: string;
  /** IP address without a port. */
  readonly remoteAddress: string;
  /** Bytes received so far, protocol overhead included. */
  readonly bytesIn: number;
  /** Sends an onStatus error with the description, then closes. Has no effect when the publisher is gone. */
  end(code: EndCode, description: string): void;
  /**
   * Stops delivering tags until {@link resume}, except for the rest of an aggregate message. The socket is not read, so the
   * encoder is slowed down.
   */
  pause(): void;
  resume(): void;
}

/** The gate's decision. `reason` is kebab-case, for log and metrics; `description` is shown to the broadcaster. */
export type PublishDecision =
  | { readonly accepted: true; readonly sink: PublisherSink }
  | { readonly accepted: false; readonly reason: string; readonly description: string };

/** Decides who may publish, before the encoder gets an answer and before any media is accepted. */
export interface PublishGate {
  /** If the connection ends before the decision, an accepted sink is closed at once. */
  request(request: PublishRequest, connection: PublisherConnection): Promise<PublishDecision>;
}
