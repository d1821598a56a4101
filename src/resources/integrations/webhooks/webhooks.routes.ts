import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { projectResource } from '../../../http/routing/project-resource.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
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

export function webhookResource(webhooks: WebhooksService) {
  return projectResource('Webhooks', ['webhookId', 'Id of the webhook.'], (projectId, id) =>
    webhooks.find(projectId, id),
  );
}

export function webhookRoutes(webhooks: WebhooksService): Route[] {
  const all = { path: '/webhooks', tag: 'Webhooks', auth: 'key' } as const;
  const one = webhookResource(webhooks);
  const shown = { description: 'The webhook.', schema: webhookSchema };

  return [
    defineRoute({
      method: 'GET',
      scope: 'admin',
      ...all,
      summary: 'List webhooks',
      query: webhooksQuerySchema,
      success: { status: 200, description: 'A page of webhooks.', schema: webhookListSchema },
      handle: async request =>
        pageOf(
          request,
          await webhooks.list(request.caller.projectId, sortOf(request.query, 'createdAt'), request.query),
        ),
    }),
    defineRoute({
      method: 'POST',
      scope: 'admin',
      ...all,
      summary: 'Create a webhook',
      description:
        'Its URL receives a POST for each of these events from now on. The sandbox and production of an account can each have 10 webhooks.',
      body: jsonBody(webhookCreationSchema),
      success: { status: 201, ...shown },
      isAtomic: true,
      handle: ({ caller, body }) => webhooks.create(caller.projectId, body),
    }),
    defineRoute({
      method: 'GET',
      scope: 'admin',
      path: '/webhooks/{webhookId}',
      summary: 'Get a webhook',
      ...one,
      success: { status: 200, ...shown },
      handle: ({ found }) => webhooks.view(found),
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'admin',
      path: '/webhooks/{webhookId}',
      summary: 'Change a webhook',
      description:
        'Attributes that you do not send keep their values, and so does the secret. Waiting deliveries go to the new URL at once; newly chosen events are sent from now on.',
      ...one,
      body: jsonBody(webhookChangesSchema),
      success: { status: 200, ...shown },
      isAtomic: true,
      handle: ({ found, body }) => webhooks.change(found, body),
    }),
    defineRoute({
      method: 'POST',
      scope: 'admin',
      ...all,
      path: '/webhooks/check',
      summary: 'Check the URL of a webhook',
      description:
        'Tells whether this server would deliver to a URL, before you create a webhook with it. The host is resolved but not connected to.',
      rateClass: 'reads',
      body: jsonBody(webhookCheckSchema),
      success: {
        status: 200,
        description: 'Whether this server would deliver to the URL.',
        schema: webhookVerdictSchema,
      },
      handle: ({ body }) => webhooks.check(body.url),
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'admin',
      path: '/webhooks/{webhookId}',
      summary: 'Delete a webhook',
      description: 'Nothing more is sent to it. Its delivery log is deleted too.',
      ...one,
      success: { status: 204, description: 'The webhook is deleted.' },
      isAtomic: true,
      handle: ({ found }) => webhooks.remove(found),
    }),
  ];
}
