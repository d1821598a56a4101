import type { HookResult, WebhookAttempt, WebhookDelivery } from '../../api/api-types.ts';
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

/** An answer of a webhook or a hook. Hooks have further codes. */
type Answer = Pick<HookResult, 'statusCode' | 'error' | 'errorCode'>;

export function formatAnswer(answer: Answer): string {
  const { statusCode } = answer;
  const error = errorLabel(answer);
  if (statusCode === undefined) return error ?? t('delivery.noResponse');
  return error === undefined ? `HTTP ${statusCode}` : `HTTP ${statusCode}: ${error}`;
}

/** Errors of earlier versions have no code. */
function errorLabel({ error, errorCode }: Answer): string | undefined {
  if (errorCode === 'status') return undefined;
  return errorCode === undefined ? error : t(`delivery.error.${errorCode}`);
}

/** Codes that stand for many errors, or for one with names in it. */
const generalCodes: readonly HookResult['errorCode'][] = [
  ...(['host-not-public', 'dns-failed', 'tls-failed'] as const),
  ...(['response-invalid', 'response-unusable', 'request-failed'] as const),
];

/** Returns the server's own text, in English, where it says more than the label of its code. */
export function errorDetail({ error, errorCode }: Answer): string | undefined {
  return generalCodes.includes(errorCode) ? error : undefined;
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
