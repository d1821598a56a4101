import type { WebhookAttempt, WebhookDelivery } from '../../api/api-types.ts';
import { locale } from '../../state/texts.ts';
import { t } from '../../texts/overview.ts';

export type DeliveryStatus = WebhookDelivery['status'];

export const statusTones = {
  waiting: 'info',
  retrying: 'warning',
  succeeded: 'good',
  failed: 'bad',
} as const;

export function statusLabel(status: DeliveryStatus): string {
  return t(`delivery.status.${status}`);
}

export function isPending({ status }: Pick<WebhookDelivery, 'status'>): boolean {
  return status === 'waiting' || status === 'retrying';
}

export function formatAnswer({ statusCode, error }: Pick<WebhookAttempt, 'statusCode' | 'error'>): string {
  if (statusCode === undefined) return error ?? t('delivery.noResponse');
  return error === undefined ? `HTTP ${statusCode}` : `HTTP ${statusCode}: ${error}`;
}

export function isGood({ statusCode = 0, error }: Pick<WebhookAttempt, 'statusCode' | 'error'>): boolean {
  return error === undefined && (statusCode === 101 || (statusCode >= 200 && statusCode < 300));
}

export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return `${new Intl.NumberFormat(locale(), digits).format(ms / 1_000)} s`;
}

export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
