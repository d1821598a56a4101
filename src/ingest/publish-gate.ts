import type { FlvTag } from '../media/flv/flv-tag.ts';

/** What a broadcaster asks for: to publish a stream under a key. The key is not checked yet. */
export interface PublishRequest {
  /** The TCP connection, as in the log. */
  readonly connectionId: string;
  readonly protocol: 'rtmp' | 'rtmps';
  /** IP address of the broadcaster, without a port. */
  readonly remoteAddress: string;
  /** `s` or `live`. */
  readonly app: string;
  /** Decoded, without query; 1..256 printable ASCII characters. Never to be logged whole. */
  readonly streamKey: string;
  /** What the encoder calls itself (`flashVer`, at most 64 printable characters), or `''`. */
  readonly encoder: string;
  /** FourCCs that the encoder announced (Enhanced RTMP), `*` for any; empty when it announced none. */
  readonly fourCcList: readonly string[];
}

/**
 * Why a publisher is gone: `unpublished` when the encoder said so (FCUnpublish, deleteStream, closeStream),
 * `ended-by-server` when somebody called {@link PublisherConnection.end} or the sink threw.
 */
export type PublisherCloseReason =
  | 'unpublished'
  | 'connection-closed'
  | 'connection-error'
  | 'idle-timeout'
  | 'protocol-error'
  | 'server-stopped'
  | 'ended-by-server';

/** Takes the media of one accepted publisher. */
export interface PublisherSink {
  /** Tags in the order of their arrival. */
  tag(tag: FlvTag): void;
  /** Called once, after the last tag. */
  closed(reason: PublisherCloseReason): void;
}

/** Status code that tells an encoder why its publishing ends. */
export type EndCode =
  | 'NetStream.Publish.BadName'
  | 'NetStream.Publish.Denied'
  | 'NetStream.Unpublish.Success'
  | 'NetStream.Publish.Rejected';

/** What the receiver of a stream can do with the publisher's connection. */
export interface PublisherConnection {
  readonly connectionId: string;
  /** IP address of the broadcaster, without a port. */
  readonly remoteAddress: string;
  /** Bytes received on the connection so far, protocol included. */
  readonly bytesIn: number;
  /** Sends an onStatus error with the description, then closes. Nothing happens when the publisher is gone already. */
  end(code: EndCode, description: string): void;
  /** No further tag until {@link resume}, but for the rest of an aggregate message; the socket is not read, so the encoder feels it. */
  pause(): void;
  resume(): void;
}

/** The gate's answer. `reason` is kebab-case, for log and metric; `description` is shown to the broadcaster. */
export type PublishDecision =
  | { readonly accepted: true; readonly sink: PublisherSink }
  | { readonly accepted: false; readonly reason: string; readonly description: string };

/** Decides who may publish; asked before the encoder hears an answer and before any media is let through. */
export interface PublishGate {
  /** Should the connection end before the answer, an accepted sink is closed at once. */
  request(request: PublishRequest, connection: PublisherConnection): Promise<PublishDecision>;
}
