import type { WebhookDeliveryDetails } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';

export function resend(webhookId: string, deliveryId: string): Promise<WebhookDeliveryDetails> {
  return call('POST /webhooks/{webhookId}/deliveries/{deliveryId}/resend', {
    params: { webhookId, deliveryId },
  });
}
