import type { WebhookResponse } from '../webhooks/webhook-sender.ts';
import type { HookError } from './hook.ts';

export type HookAnswer =
  | { readonly kind: 'allowed'; readonly fields: Readonly<Record<string, unknown>> }
  /** `message` is `''` when the hook sent no text. `error`: the hook allowed it, but its answer cannot be followed. */
  | { readonly kind: 'refused'; readonly message: string; readonly error?: HookError }
  /** The hook did not decide. */
  | { readonly kind: 'failed'; readonly error: HookError };

/** A response, or the reason why there was no request. */
export interface HookResponse extends Omit<WebhookResponse, 'error'> {
  readonly error: HookError | undefined;
}

export const maxAnswerBytes = 16 * 1_024;
/** RTMP shows 255. */
const maxMessageLength = 200;

export function readHookAnswer({ statusCode, error, response = '', isTruncated }: HookResponse): HookAnswer {
  if (statusCode === undefined)
    return { kind: 'failed', error: error ?? { code: 'request-failed', text: 'The request failed.' } };
  if (statusCode >= 200 && statusCode < 300) {
    if (isTruncated !== true) return { kind: 'allowed', fields: jsonObjectOf(response) };
    const text = `The response is larger than ${maxAnswerBytes} bytes, or did not end in time.`;
    return { kind: 'failed', error: { code: 'response-incomplete', text } };
  }
  if (statusCode >= 400 && statusCode < 500) return { kind: 'refused', message: messageOf(response) };
  const text = `The hook responded with status ${statusCode}.`;
  return { kind: 'failed', error: error ?? { code: 'status', text } };
}

/** Pages of web servers are no message. */
function messageOf(response: string): string {
  const { message } = jsonObjectOf(response);
  if (typeof message === 'string') return printable(message);
  return /^\s*[<{[]/.test(response) ? '' : printable(response);
}

function printable(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  return [...line].slice(0, maxMessageLength).join('');
}

/** An empty object for anything else. */
function jsonObjectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
