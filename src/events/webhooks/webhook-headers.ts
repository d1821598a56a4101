import { signBody, signBodyWithTimestamp } from './webhook-signature.ts';

interface SignedDelivery {
  readonly deliveryId: string;
  /** Or id of the hook. */
  readonly webhookId: string;
  readonly signatureSecret: string;
  /** Number of the event in its project; undefined for tests and hooks. */
  readonly eventNumber: number | undefined;
  readonly body: string;
}

/** @param atMs Unix time of the attempt. @param version version of this server */
export function webhookHeaders(
  delivery: SignedDelivery,
  atMs: number,
  version: string,
): Record<string, string> {
  const { signatureSecret, body, eventNumber } = delivery;
  return {
    'Content-Type': 'application/json',
    'User-Agent': `Millrace/${version}`,
    'X-Api-Video-WebhookID': delivery.webhookId,
    'X-Api-Video-Signature': signBody(signatureSecret, body),
    'Millrace-Signature': signBodyWithTimestamp(signatureSecret, body, Math.floor(atMs / 1_000)),
    ...(eventNumber === undefined ? {} : { 'Millrace-Event-Id': String(eventNumber) }),
    'Millrace-Delivery-Id': delivery.deliveryId,
  };
}
