import { type FileHandle, mkdir, open, readFile, stat, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { dirname } from 'node:path';
import { AppError } from '../../../shared/errors.ts';
import { pinnedLookup, type ResolveHost, resolveTarget } from '../../../shared/network/target-address.ts';

interface FetchOptions {
  readonly allowPrivateTargets: boolean;
  readonly resolve: ResolveHost;
  readonly stallTimeoutMs: number;
  readonly minRate: TransferRate;
  readonly maxBytes: number;
  /** @throws AppError `disk-full` */
  readonly checkRoom: (bytes: number) => Promise<void>;
  readonly signal: AbortSignal;
  readonly report: (bytes: number, total: number | undefined) => void;
}

/** A rate that a transfer must reach in every window of this length. */
export interface TransferRate {
  /** 0 accepts any rate. */
  readonly bytesPerSecond: number;
  readonly windowMs: number;
}

const maxRedirects = 5;
const spaceCheckIntervalBytes = 64 * 1_024 * 1_024;
const writeBatchBytes = 1_024 * 1_024;
/** Statuses that a retry may change. */
const retriedStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/**
 * Resumes the file of an earlier attempt when a strong entity tag proves that it is unchanged.
 * **Source**: RFC 9110 8.8.3, 13.1.5, 14.2, 15.4
 * @throws AppError `source-unreachable` or `media-refused`, which are final; other errors may pass with a
 *   retry
 */
export async function fetchSource(address: string, path: string, options: FetchOptions): Promise<number> {
  await mkdir(dirname(path), { recursive: true });
  const partial = await readPartialFile(path);
  const answer = await followRedirects(address, partial, options);
  try {
    const { offset, total } = responseRange(answer, partial);
    if (total !== undefined && total > options.maxBytes) throw tooLarge(options);
    await options.checkRoom((total ?? 0) - offset);
    await writeFile(tagPath(path), strongTagOf(answer) ?? (offset === 0 ? '' : partial!.tag));
    const handle = await open(path, offset === 0 ? 'w' : 'r+');
    try {
      await handle.truncate(offset);
      return await receiveBody(answer, handle, { offset, total }, options);
    } finally {
      await handle.close();
    }
  } finally {
    answer.destroy();
  }
}

interface PartialFile {
  readonly bytes: number;
  readonly tag: string;
}

function tagPath(path: string): string {
  return `${path}.tag`;
}

async function readPartialFile(path: string): Promise<PartialFile | undefined> {
  try {
    const tag = await readFile(tagPath(path), 'utf8');
    const { size } = await stat(path);
    return tag === '' || size === 0 ? undefined : { bytes: size, tag };
  } catch {
    return undefined;
  }
}

async function followRedirects(
  address: string,
  partial: PartialFile | undefined,
  options: FetchOptions,
): Promise<IncomingMessage> {
  let url = new URL(address);
  for (let redirects = 0; ; redirects += 1) {
    const answer = await sendRequest(url, partial, options);
    const status = answer.statusCode ?? 0;
    if (status === 200 || (status === 206 && partial !== undefined)) return answer;
    answer.destroy();
    const { location } = answer.headers;
    if ([301, 302, 303, 307, 308].includes(status) && location !== undefined) {
      if (redirects === maxRedirects)
        throw unreachable(`The source redirects more than ${maxRedirects} times.`);
      url = redirectTarget(location, url);
      continue;
    }
    // Requests the whole file when the server refuses the range.
    if (status === 416 && partial !== undefined) return followRedirects(address, undefined, options);
    if (status >= 500 || retriedStatuses.has(status))
      throw new Error(`the server responded with status ${status}`);
    throw unreachable(
      `The server of the source responded with status ${status}. Check the address, or upload the file.`,
    );
  }
}

function redirectTarget(location: string, from: URL): URL {
  const url = URL.parse(location, from.href);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw unreachable('The source redirects to a URL that is not http or https.');
  }
  return url;
}

/** Uses a new connection, because its address was checked. */
async function sendRequest(
  url: URL,
  partial: PartialFile | undefined,
  options: FetchOptions,
): Promise<IncomingMessage> {
  options.signal.throwIfAborted();
  const target = await resolveTarget(url.hostname, {
    allowPrivate: options.allowPrivateTargets,
    resolve: options.resolve,
  });
  if (!target.accepted) throw unreachable(target.reason);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // Bounds a server that sends its headers one byte at a time, which is never silent.
  const overdue = setTimeout(() => request.destroy(stallError()), options.stallTimeoutMs);
  const request = send(url, {
    agent: false,
    lookup: pinnedLookup(target.addresses),
    signal: options.signal,
    timeout: options.stallTimeoutMs,
    headers: {
      accept: '*/*',
      'accept-encoding': 'identity',
      'user-agent': 'Millrace',
      ...(partial === undefined ? {} : { range: `bytes=${partial.bytes}-`, 'if-range': partial.tag }),
    },
  });
  request.on('timeout', () => request.destroy(stallError()));
  request.on('response', resolve);
  request.on('error', reject);
  // An answer that changes the protocol ends the request without an error.
  request.on('close', () => reject(new Error('the server closed the connection')));
  request.end();
  try {
    return await promise;
  } finally {
    clearTimeout(overdue);
  }
}

function stallError(): Error {
  return new Error('the server sent nothing for too long');
}

function responseRange(
  answer: IncomingMessage,
  partial: PartialFile | undefined,
): { offset: number; total: number | undefined } {
  if (answer.statusCode !== 206 || partial === undefined) {
    const length = Number(answer.headers['content-length'] ?? Number.NaN);
    return { offset: 0, total: Number.isSafeInteger(length) ? length : undefined };
  }
  const [, from, size] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(answer.headers['content-range'] ?? '') ?? [];
  if (Number(from) !== partial.bytes) throw unreachable('The server sent a different range than requested.');
  return { offset: partial.bytes, total: size === '*' ? undefined : Number(size) };
}

function strongTagOf(answer: IncomingMessage): string | undefined {
  const { etag } = answer.headers;
  return etag?.startsWith('"') ? etag : undefined;
}

async function receiveBody(
  answer: IncomingMessage,
  handle: FileHandle,
  range: { offset: number; total: number | undefined },
  options: FetchOptions,
): Promise<number> {
  let position = range.offset;
  let checkedAt = position;
  let batch: Buffer[] = [];
  let batchBytes = 0;
  const rate = new MinRateCheck(options.minRate);
  const flush = async () => {
    const startedAtMs = performance.now();
    for (let left = batch; batchBytes > 0; left = [Buffer.concat(left).subarray(-batchBytes)]) {
      const { bytesWritten } = await handle.writev(left, position);
      position += bytesWritten;
      batchBytes -= bytesWritten;
    }
    batch = [];
    options.report(position, range.total);
    if (position - checkedAt >= spaceCheckIntervalBytes) {
      checkedAt = position;
      await options.checkRoom(0);
    }
    rate.pausedFor(performance.now() - startedAtMs);
  };
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      batch.push(chunk);
      batchBytes += chunk.length;
      rate.received(chunk.length);
      if (position + batchBytes > options.maxBytes) throw tooLarge(options);
      if (batchBytes >= writeBatchBytes) await flush();
    }
  } finally {
    await flush();
  }
  if (range.total !== undefined && position !== range.total) {
    throw new Error(`only ${position} of ${range.total} bytes arrived`);
  }
  if (position === 0) throw new AppError('media-refused', 'The source is empty.');
  return position;
}

/** Leaves out the time that the local disk takes. */
class MinRateCheck {
  readonly #min: TransferRate;
  #startedAtMs = performance.now();
  #bytes = 0;

  constructor(min: TransferRate) {
    this.#min = min;
  }

  pausedFor(durationMs: number): void {
    this.#startedAtMs += durationMs;
  }

  /** @throws AppError `source-unreachable` when a whole window was too slow */
  received(bytes: number): void {
    const { bytesPerSecond, windowMs } = this.#min;
    this.#bytes += bytes;
    const elapsedMs = performance.now() - this.#startedAtMs;
    if (elapsedMs < windowMs) return;
    if (this.#bytes * 1000 < bytesPerSecond * elapsedMs) throw tooSlow(this.#min, this.#bytes, elapsedMs);
    this.#startedAtMs += elapsedMs;
    this.#bytes = 0;
  }
}

function tooSlow({ bytesPerSecond }: TransferRate, bytes: number, elapsedMs: number): AppError {
  const rate = Math.round((1000 * bytes) / elapsedMs);
  return unreachable(
    `The server is too slow: it sent ${rate} bytes per second over ${Math.round(elapsedMs / 1000)} s, and the minimum is ${bytesPerSecond}. Use a faster server, or upload the file.`,
  );
}

function unreachable(detail: string): AppError {
  return new AppError('source-unreachable', detail);
}

function tooLarge({ maxBytes }: FetchOptions): AppError {
  return new AppError('media-refused', `The source must be smaller than ${maxBytes + 1} bytes.`);
}
