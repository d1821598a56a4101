import type { Caller } from '../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../http/routing/pagination.ts';
import { defineRoute, type Route } from '../../http/routing/route.ts';
import { deliveriesQuerySchema, deliveryDetailsSchema, deliveryListSchema } from './deliveries.schema.ts';
import type { DeliveriesService } from './deliveries.service.ts';
import type { WebhooksService } from './webhooks.service.ts';

/** The routes below `/webhooks/{webhookId}/deliveries`. */
export function deliveryRoutes(webhooks: WebhooksService, deliveries: DeliveriesService): Route[] {
  const tag = 'Webhooks';
  const webhookId = 'Id of the webhook.';
  const one = {
    tag,
    auth: 'key',
    params: { webhookId, deliveryId: 'Id of the delivery.' },
    find: ({ params, caller }: { params: { webhookId: string; deliveryId: string }; caller: Caller }) => {
      const webhook = webhooks.find(caller.projectId, params.webhookId);
      return webhook === undefined ? undefined : deliveries.find(webhook, params.deliveryId);
    },
  } as const;

  return [
    defineRoute({
      method: 'GET',
      path: '/webhooks/{webhookId}/deliveries',
      tag,
      summary: 'List deliveries of a webhook',
      description: 'What was sent to it in the last 7 days, and what is still to be sent.',
      auth: 'key',
      params: { webhookId },
      find: ({ params, caller }: { params: { webhookId: string }; caller: Caller }) =>
        webhooks.find(caller.projectId, params.webhookId),
      query: deliveriesQuerySchema,
      success: { status: 200, description: 'A page of deliveries.', schema: deliveryListSchema },
      handle: async ({ found, query, path, queryText }) => {
        const { direction } = sortOf(query, 'createdAt');
        const { views, total } = await deliveries.list(found, direction, query);
        return pageOf({ path, queryText, query }, { items: views, total });
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/webhooks/{webhookId}/deliveries/{deliveryId}',
      summary: 'Get a delivery of a webhook',
      description: 'With what is sent, and how each try went.',
      ...one,
      success: { status: 200, description: 'The delivery.', schema: deliveryDetailsSchema },
      handle: ({ found }) => deliveries.details(found),
    }),
    defineRoute({
      method: 'POST',
      path: '/webhooks/{webhookId}/deliveries/{deliveryId}/resend',
      summary: 'Send a delivery again',
      description:
        'Its event is sent once more, at once, as a delivery of its own with tries of its own. A test is made again.',
      ...one,
      success: { status: 201, description: 'The new delivery.', schema: deliveryDetailsSchema },
      handle: ({ found, caller }) => deliveries.resend(found, caller),
    }),
    defineRoute({
      method: 'POST',
      path: '/webhooks/{webhookId}/test',
      tag,
      summary: 'Send a test to a webhook',
      description:
        'Sends an event of the type `webhook.test`, signed and sent as every event is, and waits for the answer, up to 5 s: how it went is in `attempts`. It is tried once, and events that wait are not held up. A project can send 10 a minute.',
      auth: 'key',
      params: { webhookId },
      find: ({ params, caller }: { params: { webhookId: string }; caller: Caller }) =>
        webhooks.find(caller.projectId, params.webhookId),
      success: {
        status: 201,
        description: 'The delivery, with its attempt.',
        schema: deliveryDetailsSchema,
      },
      handle: ({ found, caller }) => deliveries.test(found, caller),
    }),
  ];
}
