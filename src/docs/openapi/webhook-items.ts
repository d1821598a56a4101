import {
  type DeliveryType,
  deliveryTypes,
  eventKindOf,
  eventSchema,
  testType,
} from '../../events/event-catalogue.ts';
import type { JsonObject, SchemaCollection } from '../../http/openapi/openapi-schemas.ts';

const text = (description: string, example: string) => ({ description, schema: { type: 'string' }, example });

/** Tests are no events and have no number. */
const eventIdHeader = 'Millrace-Event-Id';

const signedHeaders: Readonly<Record<string, JsonObject>> = {
  'X-Api-Video-WebhookID': text('Id of the webhook.', 'webhook_9Pf3kRt7Zv1Ym5Hc8Qj2Ns'),
  'X-Api-Video-Signature': text(
    'Lower-case hexadecimal HMAC-SHA256 of the raw body. The key is the whole `signatureSecret`.',
    'c1f64a6b6cbb3f0ad2de6e8e2ee7d1f2a46d9f5b7b0f52d5a7c8d1b2e3f4a5b6',
  ),
  'Millrace-Signature': text(
    '`t=<unix seconds>,v1=<HMAC-SHA256 of "t.body">`: a receiver can use it to reject replayed requests.',
    't=1772600767,v1=5b0f7a0f9d3c2b1a4e5d6c7b8a9f0e1d2c3b4a5f6e7d8c9b0a1f2e3d4c5b6a79',
  ),
  [eventIdHeader]: text('Number of the event within the project.', '4711'),
  'Millrace-Delivery-Id': text(
    'Id of this delivery, the same at every attempt.',
    'delivery_2Fh7sLq2Wm6Xr1Tz9Bn3VcKd',
  ),
};

export function webhookItems(schemas: SchemaCollection): Record<string, JsonObject> {
  return Object.fromEntries(
    deliveryTypes.map(type => {
      const { examples, ...schema } = schemas.add(eventSchema(type), 'output') as { examples: unknown[] };
      return [type, { post: itemOf(type, schema, examples[0]) }];
    }),
  );
}

function itemOf(type: DeliveryType, schema: JsonObject, example: unknown): JsonObject {
  const isTest = type === testType;
  return {
    operationId: `on-${type.replaceAll('.', '-')}`,
    tags: ['Webhooks'],
    summary: eventKindOf(type).summary,
    parameters: Object.entries(signedHeaders)
      .filter(([name]) => !isTest || name !== eventIdHeader)
      .map(([name, header]) => ({ name, in: 'header', required: true, ...header })),
    requestBody: { required: true, content: { 'application/json': { schema, example } } },
    responses: {
      '2XX': {
        description: isTest
          ? 'Accepted. Anything else, including a redirect, is a failure.'
          : 'Accepted. Anything else, including a redirect, is a failure, and the event is sent again.',
      },
    },
  };
}
