import type { IncomingMessage } from 'node:http';
import { AppError } from '../../shared/errors.ts';

interface JsonBodyLimits {
  readonly maxBytes: number;
  readonly maxDepth: number;
  readonly timeoutMs: number;
  /** Called for an empty body; false makes it an empty object. */
  readonly isRequired: () => boolean;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
/** Ten times the size of any resource. A mebibyte of tiny values would take 100 ms to validate. */
const maxValues = 5_000;
const [quote, backslash, comma, squareBracket, curlyBracket] = Buffer.from('"\\,[{');

/** Accepts any content type. @throws AppError `invalid-payload`, `payload-too-large` or `request-timeout` */
export async function readJsonBody(
  request: IncomingMessage,
  limits: JsonBodyLimits,
): Promise<Record<string, unknown>> {
  const bytes = await readBytes(request, limits);
  if (bytes.length === 0 && !limits.isRequired()) return {};
  return parseJsonObject(bytes, limits.maxDepth);
}

/** Refuses invalid UTF-8, unpaired surrogates and the key `__proto__`, which could change other objects. */
function parseJsonObject(bytes: Uint8Array, maxDepth: number): Record<string, unknown> {
  if (bytes.length === 0) throw payloadError('The body is empty; a JSON object was expected.');
  if (bytes.length > maxValues && countValues(bytes) > maxValues) {
    throw payloadError(`The body has more than ${maxValues} values.`);
  }
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw payloadError('The body is not valid UTF-8.');
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw payloadError('The body is not valid JSON.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw payloadError('A JSON object was expected.');
  }
  checkValue(value, maxDepth);
  return value as Record<string, unknown>;
}

/** Counts commas and opening brackets outside of strings: at least the number of values, but for one. */
function countValues(bytes: Uint8Array): number {
  let count = 0;
  let isInText = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) isInText = !isInText;
    else if (isInText) at += byte === backslash ? 1 : 0;
    else if (byte === comma || byte === squareBracket || byte === curlyBracket) count += 1;
  }
  return count;
}

function checkValue(value: unknown, depthLeft: number): void {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw payloadError('A string has an unpaired surrogate.');
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (depthLeft === 0) throw payloadError('The body is nested too deeply.');
  if (Object.hasOwn(value, '__proto__')) throw payloadError('The key "__proto__" is not allowed.');
  for (const inner of Object.values(value)) checkValue(inner, depthLeft - 1);
}

function payloadError(detail: string): AppError {
  return new AppError('invalid-payload', detail, { details: { detail } });
}

function lostError(): AppError {
  return payloadError('The connection closed before the end of the body.');
}

/** @throws AppError `invalid-payload`, `payload-too-large` or `request-timeout` */
export function readBytes(
  request: IncomingMessage,
  limits: Pick<JsonBodyLimits, 'maxBytes' | 'timeoutMs'>,
): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limits.maxBytes) {
    return Promise.reject(new AppError('payload-too-large'));
  }
  if (request.destroyed) return Promise.reject(lostError());
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let bytes = 0;
  const onData = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > limits.maxBytes) finish(() => reject(new AppError('payload-too-large')));
    else chunks.push(chunk);
  };
  const onEnd = () => finish(() => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
  const onLost = () => finish(() => reject(lostError()));
  const timer = setTimeout(() => finish(() => reject(new AppError('request-timeout'))), limits.timeoutMs);
  const finish = (settle: () => void) => {
    clearTimeout(timer);
    // The error listener stays, for connections that break later.
    request.off('data', onData).off('end', onEnd).off('close', onLost);
    settle();
  };
  request.on('data', onData).on('end', onEnd).on('close', onLost).on('error', onLost);
  return promise;
}
