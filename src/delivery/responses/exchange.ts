import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { RequestKind, TrafficOwner } from '../delivery-observer.ts';

/** A viewer's request, over HTTP/1.1 or HTTP/2. */
export type ViewerRequest = IncomingMessage | Http2ServerRequest;

/** A viewer's response, over HTTP/1.1 or HTTP/2. */
export type ViewerResponse = ServerResponse | Http2ServerResponse;

/** What both forms of {@link ViewerResponse} can do, as one type that can be called. */
export interface ViewerReply {
  readonly writableFinished: boolean;
  readonly writableEnded: boolean;
  readonly writableLength: number;
  readonly destroyed: boolean;
  readonly headersSent: boolean;
  /** `headers`: names and values in turn. */
  writeHead(status: number, headers: string[]): unknown;
  /** `onSent`: called when the system has taken the chunk, or will never do. */
  write(chunk: Buffer | string, onSent?: (error?: Error | null) => void): boolean;
  end(chunk?: Buffer | string): unknown;
  cork(): void;
  uncork(): void;
  once(event: 'close' | 'drain', listener: () => void): unknown;
}

/** One request of a viewer and the way to answer it. */
export interface Exchange {
  readonly kind: RequestKind;
  readonly isHead: boolean;
  readonly request: ViewerRequest;
  readonly reply: ViewerReply;
  /** Known once it is: whom the bytes of the answer are counted for. */
  trafficOwner?: TrafficOwner | undefined;
}

/** Ends a viewer's response at once, whatever is unsent: the stream on HTTP/2, the connection on HTTP/1.1. */
export function abortResponse(reply: ViewerReply): void {
  const response = reply as ViewerReply & ViewerResponse;
  if ('stream' in response) response.stream.close(cancelCode);
  else response.req.socket.destroy();
}

/** Whether nothing can be sent through the response any more. */
export function isClosed(reply: ViewerReply): boolean {
  const response = reply as ViewerReply & ViewerResponse;
  return 'stream' in response ? response.stream.destroyed : response.destroyed;
}

/** Whether the response waits behind another one of its connection (HTTP/1.1 pipelining), so that it cannot move yet. */
export function isQueued(reply: ViewerReply): boolean {
  const response = reply as ViewerReply & ViewerResponse;
  return !('stream' in response) && response.socket === null;
}

/** Whether the connection of a queued response is gone: Node emits no `close` for those. */
export function isOrphaned(reply: ViewerReply): boolean {
  const response = reply as ViewerReply & ViewerResponse;
  return !('stream' in response) && response.socket === null && response.req.socket.destroyed;
}

/** What all requests of a connection have in common: HTTP/2 gives each request an object of its own as its socket. */
export function connectionOf({ request }: Exchange): object {
  return 'stream' in request ? (request.stream.session ?? request.stream) : request.socket;
}

/** CANCEL (RFC 9113, 7). */
const cancelCode = 0x08;
