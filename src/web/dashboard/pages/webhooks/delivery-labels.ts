import type { WebhookAttempt, WebhookDelivery } from '../../api/api-types.ts';

/** A state of a delivery. */
export type DeliveryStatus = WebhookDelivery['status'];

/** How it stands with a delivery, for a person. */
export const statusLabels: Readonly<
  Record<DeliveryStatus, { words: string; tone: 'good' | 'bad' | 'warning' | 'info' }>
> = {
  waiting: { words: 'Waiting', tone: 'info' },
  retrying: { words: 'Trying again', tone: 'warning' },
  succeeded: { words: 'Delivered', tone: 'good' },
  failed: { words: 'Failed', tone: 'bad' },
};

/** Whether more will happen to a delivery. */
export function isPending({ status }: Pick<WebhookDelivery, 'status'>): boolean {
  return status === 'waiting' || status === 'retrying';
}

/** What a try was answered, in a few words. */
export function formatAnswer({ statusCode, error }: Pick<WebhookAttempt, 'statusCode' | 'error'>): string {
  if (statusCode === undefined) return error ?? 'No answer';
  return error === undefined ? `Answered ${statusCode}` : `Answered ${statusCode}: ${error}`;
}

/** Whether a try went well: an answer of 2xx, or 101. */
export function isGood({ statusCode = 0, error }: Pick<WebhookAttempt, 'statusCode' | 'error'>): boolean {
  return error === undefined && (statusCode === 101 || (statusCode >= 200 && statusCode < 300));
}

/** A duration in its nearest unit: `12 ms`, `1.4 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return `${new Intl.NumberFormat(undefined, digits).format(ms / 1_000)} s`;
}

/** JSON with a line for each value; other text as it is. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
