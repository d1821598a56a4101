import * as z from 'zod';
import { eventTypes } from '../../../events/event-catalogue.ts';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { urlPatterns } from '../../../shared/network/url-pattern.ts';
import { maxUrlChars, urlProblem } from './webhook.ts';

const events = z.array(z.enum(eventTypes)).min(1).max(100).describe('Events to send. Duplicates count once.');

/** URL of a webhook or hook. */
export const hookUrl = z
  .string()
  .superRefine((text, context) => {
    const problem = urlProblem(text);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  })
  .meta({ pattern: urlPatterns.http, maxLength: maxUrlChars })
  .describe(
    'Any http or https URL of up to 2,048 characters; it is not requested. A user name and password in it are sent as Basic authentication.',
  );

export const webhookCreationSchema = z.strictObject({ events, url: hookUrl }).meta({
  examples: [
    { events: ['live-stream.broadcast.started'], url: 'https://hooks.example.net/in?src=video' },
    {
      events: ['video.encoding.quality.completed', 'video.source.recorded'],
      url: 'https://hooks.example.net/videos',
    },
  ],
});

export const webhookChangesSchema = z
  .strictObject({ events: events.optional(), url: hookUrl.optional() })
  .meta({ examples: [{ url: 'https://hooks.example.net/moved' }, { events: ['video.source.recorded'] }] });

export const webhookCheckSchema = z
  .strictObject({ url: hookUrl })
  .meta({ examples: [{ url: 'https://hooks.example.net/in' }] });

export const webhookVerdictSchema = z
  .object({
    deliverable: z.boolean().describe('True when this server would connect to the URL now.'),
    reason: z.string().optional().describe('Why it would not, as a sentence; absent when it would.'),
    setting: z
      .string()
      .optional()
      .describe(
        'The environment variable with which the operator can allow the URL; absent when there is none.',
      ),
  })
  .meta({
    id: 'WebhookVerdict',
    examples: [
      { deliverable: true },
      {
        deliverable: false,
        reason: 'This server does not deliver to private addresses.',
        setting: 'MILLRACE_ALLOW_PRIVATE_TARGETS',
      },
    ],
  });

export type WebhookVerdictView = z.input<typeof webhookVerdictSchema>;

export const webhooksQuerySchema = listQuery(
  { events: z.enum(eventTypes).optional().describe('Only webhooks that receive this event.') },
  ['createdAt'],
);

export const webhookSchema = z
  .object({
    webhookId: z.string(),
    createdAt: z.iso.datetime({ offset: true }),
    events: z.array(z.enum(eventTypes)),
    url: z.string(),
    signatureSecret: z.string().describe('Secret: the signing key, including its prefix.'),
  })
  .meta({
    id: 'Webhook',
    examples: [
      {
        webhookId: 'webhook_9Pf3kRt7Zv1Ym5Hc8Qj2Ns',
        createdAt: '2026-03-04T05:06:07+00:00',
        events: ['live-stream.broadcast.started'],
        url: 'https://hooks.example.net/in?src=video',
        signatureSecret: 'sig_sec_6Jd2mWx8Tq4Lb1Rn7Gz5Fk',
      },
    ],
  });

export type WebhookView = z.input<typeof webhookSchema>;

export const webhookListSchema = listSchema(webhookSchema);
