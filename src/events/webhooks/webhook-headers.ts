import { signBody, signBodyWithTimestamp } from './webhook-signature.ts';

/** The values in the headers of a request to a webhook. */
export interface SignedDelivery {
  readonly deliveryId: string;
  readonly webhookId: string;
  readonly signatureSecret: string;
  /** Number of the event in its project; undefined for a test, which is no event. */
  readonly eventNumber: number | undefined;
  readonly body: string;
}

/**
 * The headers of a try, with its signatures.
 *
 * @param atMs time of the try; milliseconds since 1970
 * @param version of this server
 */
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
