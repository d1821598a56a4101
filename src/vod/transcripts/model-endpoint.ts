import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { AppError, messageOf } from '../../shared/errors.ts';
import type { Secret } from '../../shared/secret.ts';

/** One endpoint of an OpenAI-compatible API. */
export interface ModelEndpoint {
  /** URL without a trailing slash. */
  readonly url: string;
  readonly apiKey: Secret | undefined;
  readonly model: string;
  readonly timeoutMs: number;
}

interface ModelRequest {
  /** Path below the URL of the endpoint. */
  readonly path: string;
  readonly contentType: string;
  readonly body: readonly Buffer[];
  readonly maxResponseBytes: number;
  readonly signal: AbortSignal;
}

interface ModelResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: Buffer;
}

/** Statuses that a retry may change, besides 5xx. */
const retriedStatuses: ReadonlySet<number> = new Set([408, 409, 425, 429]);
const maxQuotedChars = 200;
const checkUrl = 'Check its URL in the settings of this server.';

/**
 * Sends a request, and returns the JSON of its answer. Does not follow redirects.
 * @throws AppError `model-refused` when a retry would not help, `model-unavailable` otherwise; the reason of the signal
 */
export async function askModel(endpoint: ModelEndpoint, request: ModelRequest): Promise<unknown> {
  const { status, retryAfter, body } = await exchange(endpoint, request);
  if (status === 200) return parseJson(body);
  const said = quoteOf(body, endpoint.apiKey);
  if (status >= 500 || retriedStatuses.has(status)) {
    const retryAfterSeconds = secondsOf(retryAfter);
    throw unavailable(`The model’s server responded with status ${status}${said}.`, {
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    });
  }
  if (status === 401 || status === 403) {
    throw refused(`The model’s server refused the API key (${status}). Check the settings of this server.`);
  }
  if (status >= 300 && status < 400) {
    throw refused(`The model’s server redirects (${status}). Set its final URL.`);
  }
  throw refused(`The model’s server refused the request (${status})${said}.`);
}

export function refused(detail: string, cause?: unknown): AppError {
  return new AppError('model-refused', detail, {
    ...(cause === undefined ? {} : { cause }),
    details: { detail },
  });
}

function unavailable(
  detail: string,
  details: { readonly retryAfterSeconds?: number } = {},
  cause?: unknown,
): AppError {
  return new AppError('model-unavailable', detail, {
    ...(cause === undefined ? {} : { cause }),
    details: { detail, ...details },
  });
}

/** Messages of sockets contain addresses, which the owner of a video must not see. */
function causeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : messageOf(error);
}

function exchange(
  { url, apiKey, timeoutMs }: ModelEndpoint,
  { path, contentType, body, maxResponseBytes, signal }: ModelRequest,
): Promise<ModelResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<ModelResponse>();
  const target = new URL(url + path);
  const deadline = AbortSignal.timeout(timeoutMs);
  const request = (target.protocol === 'https:' ? requestHttps : requestHttp)(target, {
    method: 'POST',
    agent: false,
    signal: AbortSignal.any([signal, deadline]),
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'Millrace',
      'content-type': contentType,
      'content-length': body.reduce((sum, { length }) => sum + length, 0),
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey.reveal()}` }),
    },
  });
  const fail = (error: unknown) => {
    if (signal.aborted) reject(signal.reason);
    else if (deadline.aborted) reject(unavailable(`The model did not respond within ${timeoutMs / 1000} s.`));
    else if (error instanceof AppError) reject(error);
    else
      reject(unavailable(`The model’s server cannot be reached (${causeOf(error)}). ${checkUrl}`, {}, error));
    request.destroy();
  };
  request.on('error', fail);
  request.on('response', response => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maxResponseBytes)
        fail(refused(`The model’s response is larger than ${maxResponseBytes} B.`));
    });
    response.on('error', fail);
    response.on('end', () => {
      const { statusCode = 0, headers } = response;
      resolve({ status: statusCode, retryAfter: headers['retry-after'], body: Buffer.concat(chunks) });
    });
    response.on('close', () => fail(new Error('the connection was closed before the end of the answer')));
  });
  for (const part of body) request.write(part);
  request.end();
  return promise;
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch (error) {
    throw refused('The model’s server did not respond with JSON. Check its URL in the settings.', error);
  }
}

/** The message of an error, as far as it can be shown. */
function quoteOf(body: Buffer, apiKey: Secret | undefined): string {
  let text: unknown;
  try {
    const { error } = JSON.parse(body.toString());
    text = typeof error === 'string' ? error : error?.message;
  } catch {
    return '';
  }
  if (typeof text !== 'string') return '';
  const key = apiKey?.reveal() ?? '';
  const line = (key === '' ? text : text.replaceAll(key, '…'))
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim()
    .slice(0, maxQuotedChars);
  return line === '' ? '' : `: “${line}”`;
}

/** **Source**: RFC 9110 10.2.3 */
function secondsOf(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter);
  const atMs = Date.parse(retryAfter);
  return Number.isNaN(atMs) ? undefined : Math.max(0, Math.ceil((atMs - Date.now()) / 1000));
}
