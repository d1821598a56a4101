import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { FastRequest, FastResponse } from '../../http/fast-path/fast-response.ts';
import type { TrafficOwner } from '../delivery-observer.ts';

export type ViewerRequest = IncomingMessage | Http2ServerRequest | FastRequest;

export type ViewerResponse = ServerResponse | Http2ServerResponse | FastResponse;

/** The common members of all kinds of {@link ViewerResponse} as one callable type. */
export interface ViewerReply {
  readonly writableFinished: boolean;
  readonly writableEnded: boolean;
  readonly writableLength: number;
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  /** `headers`: names and values in turn. */
  writeHead(status: number, headers: readonly string[]): unknown;
  /** Calls `onSent` when the kernel accepted the chunk, or never will. */
  write(chunk: Buffer | string, onSent?: (error?: Error | null) => void): boolean;
  end(chunk?: Buffer | string): unknown;
  cork(): void;
  uncork(): void;
  once(event: 'close' | 'drain', listener: () => void): unknown;
}

export interface Exchange {
  /** Kind of the requested path. */
  readonly kind: string;
  readonly isHead: boolean;
  readonly request: ViewerRequest;
  readonly reply: ViewerReply;
  trafficOwner?: TrafficOwner | undefined;
}

/** Drops unsent bytes and ends the stream (HTTP/2) or the connection (HTTP/1.1). */
export function abortResponse(reply: ViewerReply): void {
  const response = reply as ViewerReply & ViewerResponse;
  if ('stream' in response) response.stream.close(cancelCode);
  else response.req.socket.destroy();
}

export function isClosed(reply: ViewerReply): boolean {
  const response = reply as ViewerReply & ViewerResponse;
  return 'stream' in response ? response.stream.destroyed : response.destroyed;
}

/** The response waits behind another one of its connection (HTTP/1.1 pipelining). */
export function isQueued(reply: ViewerReply): boolean {
  const response = reply as ViewerReply & ViewerResponse;
  return !('stream' in response) && response.socket === null;
}

/** Returns an object that all requests of a connection share: HTTP/2 requests have sockets of their own. */
export function connectionOf({ request }: Exchange): object {
  return 'stream' in request ? (request.stream.session ?? request.stream) : request.socket;
}

/** CANCEL (RFC 9113, 7). */
const cancelCode = 0x08;
