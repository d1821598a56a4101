import type { Caller } from '../../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { defineRoute, type Route } from '../../../http/routing/route.ts';
import { deliveriesQuerySchema, deliveryDetailsSchema, deliveryListSchema } from './deliveries.schema.ts';
import type { DeliveriesService } from './deliveries.service.ts';
import { webhookResource } from './webhooks.routes.ts';
import type { WebhooksService } from './webhooks.service.ts';

export function deliveryRoutes(webhooks: WebhooksService, deliveries: DeliveriesService): Route[] {
  const ofWebhook = webhookResource(webhooks);
  const one = {
    ...ofWebhook,
    params: { ...ofWebhook.params, deliveryId: 'Id of the delivery.' },
    find: async (request: { params: { webhookId: string; deliveryId: string }; caller: Caller }) => {
      const webhook = await ofWebhook.find(request);
      return webhook === undefined ? undefined : deliveries.find(webhook, request.params.deliveryId);
    },
  } as const;
  const created = { status: 201, description: 'The new delivery.', schema: deliveryDetailsSchema } as const;

  return [
    defineRoute({
      method: 'GET',
      scope: 'admin',
      path: '/webhooks/{webhookId}/deliveries',
      summary: 'List deliveries of a webhook',
      description: 'Deliveries of the last 7 days, and those that are still waiting.',
      ...ofWebhook,
      query: deliveriesQuerySchema,
      success: { status: 200, description: 'A page of deliveries.', schema: deliveryListSchema },
      handle: async request =>
        pageOf(
          request,
          await deliveries.list(request.found, sortOf(request.query, 'createdAt').direction, request.query),
        ),
    }),
    defineRoute({
      method: 'GET',
      scope: 'admin',
      path: '/webhooks/{webhookId}/deliveries/{deliveryId}',
      summary: 'Get a delivery of a webhook',
      description: 'With its body and the outcome of each attempt.',
      ...one,
      success: { status: 200, description: 'The delivery.', schema: deliveryDetailsSchema },
      handle: ({ found }) => deliveries.details(found),
    }),
    defineRoute({
      method: 'POST',
      scope: 'admin',
      path: '/webhooks/{webhookId}/deliveries/{deliveryId}/resend',
      summary: 'Send a delivery again',
      description:
        'Sends its event again at once, as a new delivery with attempts of its own. A test is created anew.',
      ...one,
      success: created,
      handle: ({ found, caller }) => deliveries.resend(found, caller),
    }),
    defineRoute({
      method: 'POST',
      scope: 'admin',
      path: '/webhooks/{webhookId}/test',
      summary: 'Send a test to a webhook',
      description:
        'Sends an event of the type `webhook.test`, signed and sent like every event, and waits up to 5 s for the response. `attempts` tells the outcome. It is tried once, and does not delay waiting events. A project can send 10 a minute.',
      ...ofWebhook,
      success: { ...created, description: 'The delivery, with its attempt.' },
      handle: ({ found, caller }) => deliveries.test(found, caller),
    }),
  ];
}
