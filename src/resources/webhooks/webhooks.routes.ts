import type { Caller } from '../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../http/routing/pagination.ts';
import { defineRoute, jsonBody, type Route } from '../../http/routing/route.ts';
import {
  webhookChangesSchema,
  webhookCheckSchema,
  webhookCreationSchema,
  webhookListSchema,
  webhookSchema,
  webhooksQuerySchema,
  webhookVerdictSchema,
} from './webhooks.schema.ts';
import type { WebhooksService } from './webhooks.service.ts';

/** The routes of `/webhooks` itself. */
export function webhookRoutes(webhooks: WebhooksService): Route[] {
  const tag = 'Webhooks';
  const one = {
    tag,
    auth: 'key',
    params: { webhookId: 'Id of the webhook.' },
    find: ({ params, caller }: { params: { webhookId: string }; caller: Caller }) =>
      webhooks.find(caller.projectId, params.webhookId),
  } as const;
  const shown = { description: 'The webhook.', schema: webhookSchema };

  return [
    defineRoute({
      method: 'GET',
      path: '/webhooks',
      tag,
      summary: 'List webhooks',
      auth: 'key',
      query: webhooksQuerySchema,
      success: { status: 200, description: 'A page of webhooks.', schema: webhookListSchema },
      handle: ({ caller, query, path, queryText }) => {
        const { direction } = sortOf(query, 'createdAt');
        const { views, total } = webhooks.list(caller.projectId, direction, query);
        return pageOf({ path, queryText, query }, { items: views, total });
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/webhooks',
      tag,
      summary: 'Create a webhook',
      description:
        'Its address gets a POST for each of these events that happens from now on. The sandbox and production of an account can each have 10 webhooks.',
      auth: 'key',
      body: jsonBody(webhookCreationSchema),
      success: { status: 201, ...shown },
      handle: ({ caller, body }) => webhooks.create(caller.projectId, body),
    }),
    defineRoute({
      method: 'GET',
      path: '/webhooks/{webhookId}',
      summary: 'Get a webhook',
      ...one,
      success: { status: 200, ...shown },
      handle: ({ found }) => webhooks.view(found),
    }),
    defineRoute({
      method: 'PATCH',
      path: '/webhooks/{webhookId}',
      summary: 'Change a webhook',
      description:
        'Attributes that you do not send stay, and so does the secret. Waiting deliveries go to the new address, at once; newly chosen events are sent from now on.',
      ...one,
      body: jsonBody(webhookChangesSchema),
      success: { status: 200, ...shown },
      handle: ({ found, body }) => webhooks.change(found, body),
    }),
    defineRoute({
      method: 'POST',
      path: '/webhooks/check',
      tag,
      summary: 'Check the address of a webhook',
      description:
        'Tells whether this server would deliver to an address, before a webhook is made with it. The host is looked up, and not connected to.',
      auth: 'key',
      rateClass: 'reads',
      body: jsonBody(webhookCheckSchema),
      success: {
        status: 200,
        description: 'Whether this server would deliver to it.',
        schema: webhookVerdictSchema,
      },
      handle: ({ body }) => webhooks.check(body.url),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/webhooks/{webhookId}',
      summary: 'Delete a webhook',
      description: 'Nothing is sent to it any more, and the log of its deliveries is gone.',
      ...one,
      success: { status: 204, description: 'It is gone.' },
      handle: ({ found }) => webhooks.remove(found),
    }),
  ];
}
