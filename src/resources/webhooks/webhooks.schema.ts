import { z } from 'zod';
import { eventTypes } from '../../events/event-catalogue.ts';
import { listQuery, listSchema } from '../../http/routing/pagination.ts';
import { urlProblem } from './webhook.ts';

const events = z
  .array(z.enum(eventTypes))
  .min(1)
  .max(100)
  .describe('Names of the events to be told of. A name that stands there twice counts once.');

const url = z
  .string()
  .superRefine((text, context) => {
    const problem = urlProblem(text);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  })
  .describe(
    'Any http or https address of up to 2,048 characters; it is not tried out. A name and password in it are sent as Basic authentication.',
  );

/** Body of `POST /webhooks`. */
export const webhookCreationSchema = z.strictObject({ events, url }).meta({
  examples: [
    { events: ['live-stream.broadcast.started'], url: 'https://hooks.example.net/in?src=video' },
    {
      events: ['video.encoding.quality.completed', 'video.source.recorded'],
      url: 'https://hooks.example.net/videos',
    },
  ],
});

/** Body of `PATCH /webhooks/{webhookId}`. */
export const webhookChangesSchema = z
  .strictObject({ events: events.optional(), url: url.optional() })
  .meta({ examples: [{ url: 'https://hooks.example.net/moved' }, { events: ['video.source.recorded'] }] });

/** Body of `POST /webhooks/check`. */
export const webhookCheckSchema = z
  .strictObject({ url })
  .meta({ examples: [{ url: 'https://hooks.example.net/in' }] });

/** The answer to whether this server would deliver to an address. */
export const webhookVerdictSchema = z
  .object({
    deliverable: z.boolean().describe('Whether this server would connect to the address now.'),
    reason: z
      .string()
      .optional()
      .describe('Why it would not, as a sentence for a person; absent when it would.'),
    setting: z
      .string()
      .optional()
      .describe(
        'The environment variable by which the operator can allow the address; absent where there is none.',
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

/** The answer to whether this server would deliver to an address. */
export type WebhookVerdictView = z.input<typeof webhookVerdictSchema>;

/** Query of `GET /webhooks`. */
export const webhooksQuerySchema = listQuery(
  { events: z.enum(eventTypes).optional().describe('Only those that are told of this event.') },
  ['createdAt'],
);

/** A webhook as the API shows it. */
export const webhookSchema = z
  .object({
    webhookId: z.string(),
    createdAt: z.iso.datetime({ offset: true }),
    events: z.array(z.enum(eventTypes)),
    url: z.string(),
    signatureSecret: z.string().describe('Secret: key of the signatures, its prefix included.'),
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

/** A webhook as the API shows it. */
export type WebhookView = z.input<typeof webhookSchema>;

/** A page of webhooks. */
export const webhookListSchema = listSchema(webhookSchema);
