import * as z from 'zod';
import { deliveryTypes } from '../../../events/event-catalogue.ts';
import { deliveryErrorCodes } from '../../../events/webhooks/delivery-error.ts';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { deliveryStatuses } from './deliveries.store.ts';

const status = z.enum(deliveryStatuses);

export const deliveriesQuerySchema = listQuery(
  {
    status: status.optional().describe('Only deliveries in this state.'),
    type: z.enum(deliveryTypes).optional().describe('Only deliveries of this event.'),
  },
  ['createdAt'],
);

const deliveryFields = {
  deliveryId: z.string().describe('Also sent as `Millrace-Delivery-Id`, the same for every attempt.'),
  webhookId: z.string(),
  eventId: z
    .string()
    .optional()
    .describe(
      'Number of the event in its project, as in the feed `/events` and in `Millrace-Event-Id`; absent for a test.',
    ),
  type: z.enum(deliveryTypes),
  status: status.describe(
    '`waiting` for its first attempt, `retrying` after a failed one, `succeeded`, or `failed` after the last one.',
  ),
  attemptsTotal: z.int().describe('Attempts so far.'),
  createdAt: z.iso.datetime({ offset: true }),
  nextAttemptAt: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Earliest time of the next attempt; absent when there is none.'),
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
  durationMs: z.int().describe('Milliseconds until the response was read or the attempt timed out.'),
  statusCode: z.int().optional().describe('HTTP status of the response; absent without a response.'),
  error: z.string().optional().describe('The failure, when the status does not tell it.'),
  errorCode: z
    .enum(deliveryErrorCodes)
    .optional()
    .describe('The failure as a stable code. Absent without `error`, and for attempts of earlier versions.'),
};

const attemptSchema = z
  .object({
    ...attemptFields,
    response: z.string().optional().describe('The first 1,024 bytes of the response, as text.'),
  })
  .meta({ id: 'WebhookAttempt' });

const deliverySchema = z
  .object({
    ...deliveryFields,
    lastAttempt: z
      .object(attemptFields)
      .optional()
      .describe('Outcome of the newest attempt; absent before the first.'),
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

export type DeliveryView = z.input<typeof deliverySchema>;

export const deliveryListSchema = listSchema(deliverySchema);

export const deliveryDetailsSchema = z
  .object({
    ...deliveryFields,
    body: z.string().describe('The exact body that is sent.'),
    attempts: z.array(attemptSchema).describe('Oldest first, at most the newest 100.'),
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

export type DeliveryDetailsView = z.input<typeof deliveryDetailsSchema>;
