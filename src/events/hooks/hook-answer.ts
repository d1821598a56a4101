import type { WebhookResponse } from '../webhooks/webhook-sender.ts';

export type HookAnswer =
  | { readonly kind: 'allowed'; readonly fields: Readonly<Record<string, unknown>> }
  /** `message` is `''` when the hook sent no text. `error`: the hook allowed it, but its answer cannot be followed. */
  | { readonly kind: 'refused'; readonly message: string; readonly error?: string }
  /** The hook did not decide. */
  | { readonly kind: 'failed'; readonly error: string };

export const maxAnswerBytes = 16 * 1_024;
/** RTMP shows 255. */
const maxMessageLength = 200;

export function readHookAnswer({
  statusCode,
  error,
  response = '',
  isTruncated,
}: WebhookResponse): HookAnswer {
  if (statusCode === undefined) return { kind: 'failed', error: error ?? 'The request failed.' };
  if (statusCode >= 200 && statusCode < 300) {
    if (isTruncated !== true) return { kind: 'allowed', fields: jsonObjectOf(response) };
    return {
      kind: 'failed',
      error: `The response is larger than ${maxAnswerBytes} bytes, or did not end in time.`,
    };
  }
  if (statusCode >= 400 && statusCode < 500) return { kind: 'refused', message: messageOf(response) };
  return { kind: 'failed', error: error ?? `The hook responded with status ${statusCode}.` };
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
