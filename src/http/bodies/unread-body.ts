import type { IncomingMessage } from 'node:http';
import type { ServerHttp2Stream } from 'node:http2';
import { Readable } from 'node:stream';

const maxShortBytes = 64 * 1_024;
/** Enough for clients that hear the response only once they have sent all of a usual chunk. */
const maxDiscardedBytes = 64 * 1_024 * 1_024;
const maxDiscardMs = 15_000;

type UnreadBody = 'none' | 'short' | 'long';

export function unreadBodyOf(request: IncomingMessage): UnreadBody {
  const length = Number(request.headers['content-length'] ?? 0);
  const isChunked = request.headers['transfer-encoding'] !== undefined;
  const { stream } = request as IncomingMessage & { stream?: ServerHttp2Stream };
  const mayHaveBody = length > 0 || isChunked || stream?.endAfterHeaders === false;
  if (request.readableEnded || request.destroyed || !mayHaveBody) return 'none';
  return length > 0 && length <= maxShortBytes ? 'short' : 'long';
}

/** Reads up to 64 MiB of the body for 15 s: closing earlier would take the response from the client. */
export function respondThenDiscard(text: string, request: IncomingMessage): Readable {
  return Readable.from(
    (async function* () {
      yield Buffer.from(text);
      await discardRest(request);
    })(),
    { objectMode: false },
  );
}

async function discardRest(request: IncomingMessage): Promise<void> {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  let bytes = 0;
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxDiscardedBytes) resolve();
  };
  const timer = setTimeout(resolve, maxDiscardMs);
  request.on('data', count).on('end', resolve).on('close', resolve).on('error', resolve);
  request.resume();
  await done;
  clearTimeout(timer);
  request.off('data', count);
  if (request.readableEnded || request.destroyed) return;
  request.pause();
  const { stream } = request as IncomingMessage & { stream?: ServerHttp2Stream };
  if (stream === undefined) setImmediate(() => request.socket.destroySoon());
  else setImmediate(() => stream.close());
}
