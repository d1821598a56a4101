import type { FlvTag } from '../media/flv/flv-tag.ts';

/** Not verified yet. */
export interface PublishRequest {
  readonly connectionId: string;
  readonly protocol: 'rtmp' | 'rtmps';
  readonly remoteAddress: string;
  readonly app: string;
  /** Decoded, without query; 1..256 printable ASCII characters. Must not be logged unmasked. */
  readonly streamKey: string;
  /** The encoder's `flashVer`, at most 64 printable characters, or `''`. */
  readonly encoder: string;
  /** FourCCs of Enhanced RTMP, `*` for any. */
  readonly fourCcList: readonly string[];
}

/** `unpublished`: the encoder stopped. `ended-by-server`: {@link PublisherConnection.end}, or the sink threw. */
export type PublisherCloseReason =
  | 'unpublished'
  | 'connection-closed'
  | 'connection-error'
  | 'idle-timeout'
  | 'protocol-error'
  | 'server-stopped'
  | 'ended-by-server';

export interface PublisherSink {
  tag(tag: FlvTag): void;
  closed(reason: PublisherCloseReason): void;
}

export type EndCode =
  | 'NetStream.Publish.BadName'
  | 'NetStream.Publish.Denied'
  | 'NetStream.Unpublish.Success'
  | 'NetStream.Publish.Rejected';

export interface PublisherConnection {
  readonly connectionId: string;
  readonly remoteAddress: string;
  readonly bytesIn: number;
  /** Sends an onStatus error, then closes. Does nothing when the publisher is gone. */
  end(code: EndCode, description: string): void;
  /** The socket is not read, which slows the encoder. The rest of an aggregate message is still delivered. */
  pause(): void;
  resume(): void;
}

/** `reason` is kebab-case, for log and metrics; `description` is shown to the broadcaster. */
export type PublishDecision =
  | { readonly accepted: true; readonly sink: PublisherSink }
  | { readonly accepted: false; readonly reason: string; readonly description: string };

/** Decides before the encoder gets an answer and before any media is accepted. */
export interface PublishGate {
  /** If the connection ends before the decision, an accepted sink is closed at once. */
  request(request: PublishRequest, connection: PublisherConnection): Promise<PublishDecision>;
}
