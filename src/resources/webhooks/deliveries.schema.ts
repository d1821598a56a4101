import { z } from 'zod';
import { deliveryTypes } from '../../events/event-catalogue.ts';
import { listQuery, listSchema } from '../../http/routing/pagination.ts';
import { deliveryStatuses } from './deliveries.store.ts';

const status = z.enum(deliveryStatuses);

/** Query of `GET /webhooks/{webhookId}/deliveries`. */
export const deliveriesQuerySchema = listQuery(
  {
    status: status.optional().describe('Only those in this state.'),
    type: z.enum(deliveryTypes).optional().describe('Only those of this event.'),
  },
  ['createdAt'],
);

const deliveryFields = {
  deliveryId: z.string().describe('Also sent as `Millrace-Delivery-Id`, the same at each try.'),
  webhookId: z.string(),
  eventId: z
    .string()
    .optional()
    .describe(
      "Number of the event among the project's, as the feed `/events` and `Millrace-Event-Id` tell it; absent for a test, which is no event.",
    ),
  type: z.enum(deliveryTypes),
  status: status.describe(
    '`waiting` for its first try, `retrying` after one that failed, `succeeded`, or `failed`: given up.',
  ),
  attemptsTotal: z.int().describe('Tries so far.'),
  createdAt: z.iso.datetime({ offset: true }),
  nextAttemptAt: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('The earliest time of the next try; absent when it is over.'),
  resentFrom: z.string().optional().describe('Id of the delivery that this one repeats.'),
};

const sample = {
  deliveryId: 'delivery_7Hq2Lw9Zc4Vn1Xk6Bt8Rm3',
  webhookId: 'webhook_9Pf3kRt7Zv1Ym5Hc8Qj2Ns',
  eventId: '41',
  type: 'live-stream.broadcast.started' as const,
  status: 'retrying' as const,
  attemptsTotal: 1,
  createdAt: '2026-03-04T05:06:07+00:00',
  nextAttemptAt: '2026-03-04T05:06:10+00:00',
};

const attemptFields = {
  attemptedAt: z.iso.datetime({ offset: true }),
  durationMs: z.int().describe('Milliseconds until the answer was read, or given up.'),
  statusCode: z.int().optional().describe('HTTP status of the answer; absent when none came.'),
  error: z.string().optional().describe('What went wrong, where the status does not say it.'),
};

const attemptSchema = z
  .object({
    ...attemptFields,
    response: z.string().optional().describe('The first 1,024 bytes of the answer, as text.'),
  })
  .meta({ id: 'WebhookAttempt' });

/** A delivery in a list. */
export const deliverySchema = z
  .object({
    ...deliveryFields,
    lastAttempt: z
      .object(attemptFields)
      .optional()
      .describe('How its newest try went; absent before the first.'),
  })
  .meta({
    id: 'WebhookDelivery',
    examples: [
      {
        ...sample,
        lastAttempt: { attemptedAt: '2026-03-04T05:06:07+00:00', durationMs: 12, statusCode: 500 },
      },
    ],
  });

/** A delivery in a list. */
export type DeliveryView = z.input<typeof deliverySchema>;

/** A page of deliveries. */
export const deliveryListSchema = listSchema(deliverySchema);

/** A delivery with its tries. */
export const deliveryDetailsSchema = z
  .object({
    ...deliveryFields,
    body: z.string().describe('What is sent, to the byte.'),
    attempts: z.array(attemptSchema).describe('Oldest first; of more than 100 the newest.'),
  })
  .meta({
    id: 'WebhookDeliveryDetails',
    examples: [
      {
        ...sample,
        body: '{"type":"live-stream.broadcast.started","emittedAt":"2026-03-04T05:06:07+00:00","liveStreamId":"li5Ds8GhJk1Qw3ErTy6UiOpA"}',
        attempts: [
          {
            attemptedAt: '2026-03-04T05:06:07+00:00',
            durationMs: 12,
            statusCode: 500,
            response: 'out of order',
          },
        ],
      },
    ],
  });

/** A delivery with its tries. */
export type DeliveryDetailsView = z.input<typeof deliveryDetailsSchema>;
