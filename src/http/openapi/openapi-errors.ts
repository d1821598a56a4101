import * as z from 'zod';
import { statusDescriptions } from '../../shared/error-register.ts';
import { AppError, type ErrorCode, errorRegister } from '../../shared/errors.ts';
import { headersTooLarge } from '../listener/listener-errors.ts';
import { toErrorBody } from '../responses/error-body.ts';
import type { Route } from '../routing/route.ts';
import { validate } from '../routing/validation.ts';
import type { JsonObject } from './openapi-schemas.ts';

const range = z.object({ min: z.number().optional(), max: z.number().optional() });

const problemSchema = z.object({
  type: z.string().optional().describe('URL that identifies the error of this field.'),
  title: z.string(),
  name: z.string().describe('The field, such as `restreams[0][serverUrl]`.'),
  detail: z.string().optional(),
  range: range.optional().describe('Allowed values of a number.'),
});

export const errorSchema = z
  .object({
    type: z.string().optional().describe('URL that identifies the error. Absent for errors of the server.'),
    title: z.string().describe('What went wrong, as a sentence.'),
    status: z.int().describe('The HTTP status.'),
    name: z.string().optional().describe('The field at fault.'),
    detail: z.string().optional().describe('The reason and what to do, as a sentence.'),
    range: range.optional().describe('Allowed values of a number.'),
    reason: z
      .string()
      .optional()
      .describe(
        'Why a viewer is refused, for pages in other languages: `site`, `no-site`, `country`, `expired` or `clip-expired`. Absent for other errors.',
      ),
    problems: z
      .array(problemSchema)
      .optional()
      .describe('All invalid fields. The first is repeated at the top level.'),
  })
  .meta({ id: 'Error' });

const keyCodes: readonly ErrorCode[] = [
  'authentication-missing-authorization-header',
  'authentication-invalid-authorization-header-value',
  'authentication-invalid-api-key',
  'authentication-invalid-access-token',
  'authentication-invalid-session',
  'authorization-suspended-account',
  'authorization-account-not-upgraded',
  'authorization-unknown-project',
  'authorization-insufficient-scope',
  'authorization-other-site',
];
const sessionCodes: readonly ErrorCode[] = [
  'authentication-invalid-session',
  'authorization-suspended-account',
  'authorization-other-site',
];
const uploadTokenCodes: readonly ErrorCode[] = [
  'authentication-missing-upload-token',
  'authentication-invalid-upload-token',
  'authorization-suspended-account',
];
const fileCodes: readonly ErrorCode[] = [
  'invalid-payload',
  'uploaded-file-no-file',
  'uploaded-file-multiple-files',
  'uploaded-file-too-large',
  'request-timeout',
  'disk-full',
];
const imageCodes: readonly ErrorCode[] = [
  'uploaded-file-empty',
  'uploaded-file-invalid-file',
  'uploaded-file-extension-invalid',
];

const sharedResponses: Readonly<Record<string, string>> = {
  'authentication-missing-authorization-header': 'Unauthorized',
  'authentication-missing-upload-token': 'UploadTokenRefused',
  'authentication-invalid-session': 'NotSignedIn',
  'authorization-suspended-account': 'Forbidden',
  'request-timeout': 'RequestTimeout',
  'payload-too-large': 'PayloadTooLarge',
  'too-many-requests': 'TooManyRequests',
  'server-error': 'ServerError',
  'database-unusable': 'NoDatabase',
  'disk-full': 'NoRoom',
};

export class ErrorResponses {
  readonly examples: Record<string, JsonObject> = {};
  readonly responses: Record<string, JsonObject> = {};
  readonly #docsBase: string;
  readonly #schema: JsonObject;
  readonly #headers: JsonObject;

  constructor(docsBase: string, schema: JsonObject, headers: JsonObject) {
    this.#docsBase = docsBase;
    this.#schema = schema;
    this.#headers = headers;
  }

  of(route: Route): [status: number, response: JsonObject][] {
    const byStatus = new Map<number, JsonObject>();
    const errors = [...generalErrors(route), ...ownErrors(route)];
    for (const status of route.errors) {
      if (typeof status === 'number' && !byStatus.has(status)) byStatus.set(status, {});
    }
    for (const error of errors) {
      const { status } = error;
      const example = isSameEverywhere(error) ? this.#sharedExample(error) : this.#ownExample(error);
      byStatus.set(status, { ...byStatus.get(status), [error.code]: example });
    }
    const responses = [...byStatus].map(([status, examples]): [number, JsonObject] => [
      status,
      this.#response(status, examples),
    ]);
    return [...responses, [431, this.headersTooLarge()] as [number, JsonObject]].sort(([a], [b]) => a - b);
  }

  headersTooLarge(): JsonObject {
    const { 'X-Request-Id': _, ...headers } = this.#headers;
    const value = { ...toErrorBody(headersTooLarge, this.#docsBase), status: 431 };
    this.responses.HeadersTooLarge ??= {
      description: 'The request line and headers are longer than 16 KiB.',
      headers,
      content: { 'application/json': { schema: this.#schema, example: value } },
    };
    return { $ref: '#/components/responses/HeadersTooLarge' };
  }

  #response(status: number, examples: JsonObject): JsonObject {
    const response = {
      description: statusDescriptions[status] ?? 'An error.',
      headers: { ...this.#headers, ...extraHeaders(status) },
      content: {
        'application/json': {
          schema: this.#schema,
          ...(Object.keys(examples).length === 0 ? {} : { examples }),
        },
      },
    };
    const name = sharedResponses[Object.keys(examples)[0] ?? ''];
    const areShared = Object.values(examples).every(example => '$ref' in (example as JsonObject));
    if (name === undefined || !areShared) return response;
    this.responses[name] ??= response;
    const isSame = JSON.stringify(this.responses[name]) === JSON.stringify(response);
    return isSame ? { $ref: `#/components/responses/${name}` } : response;
  }

  #sharedExample(error: AppError): JsonObject {
    this.examples[error.code] = this.#ownExample(error);
    return { $ref: `#/components/examples/${error.code}` };
  }

  #ownExample(error: AppError): JsonObject {
    return { summary: errorRegister[error.code].title, value: toErrorBody(error, this.#docsBase) };
  }
}

function isSameEverywhere({ code }: AppError): boolean {
  return !['resource-not-found', 'invalid-attribute', 'attribute-required'].includes(code);
}

function extraHeaders(status: number): JsonObject {
  if (status === 401) return { 'WWW-Authenticate': { $ref: '#/components/headers/WwwAuthenticate' } };
  if (status === 429 || status === 503) return { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } };
  return {};
}

function generalErrors(route: Route): AppError[] {
  const { auth, body } = route;
  const codes = new Set<ErrorCode>(['server-error', 'database-unusable']);
  const add = (more: readonly ErrorCode[]) => {
    for (const code of more) codes.add(code);
  };
  if (auth === 'key') add(keyCodes);
  if (auth === 'session') add(sessionCodes);
  if (auth === 'session' && route.scope !== undefined) add(['authorization-insufficient-scope']);
  if (auth === 'upload-token') add(uploadTokenCodes);
  if (auth !== 'none') add(['too-many-requests']);
  if (body?.kind === 'json') add(['invalid-payload', 'payload-too-large', 'request-timeout']);
  if (route.method !== 'GET') add(['disk-full']);
  if (body?.kind === 'file') add(fileCodes);
  if (body?.kind === 'file' && body.contentTypes.every(type => type.startsWith('image/'))) add(imageCodes);
  if (route.success.fileTypes !== undefined) add(['range-not-satisfiable', 'media-unavailable']);
  const errors = [...codes].map(exampleOf);
  if (route.find !== undefined) errors.unshift(notFound(route));
  return [...refusedInput(route), ...errors];
}

function ownErrors(route: Route): AppError[] {
  return route.errors
    .filter(error => typeof error !== 'number')
    .map(code => (code === 'resource-not-found' ? notFound(route) : exampleOf(code)));
}

function exampleOf(code: ErrorCode): AppError {
  const isAboutFile = code.startsWith('uploaded-file-');
  return new AppError(code, undefined, isAboutFile ? { details: { name: 'file' } } : {});
}

function notFound(route: Route): AppError {
  const name = Object.keys(route.params).at(-1);
  return new AppError('resource-not-found', undefined, { details: name === undefined ? {} : { name } });
}

function refusedInput(route: Route): AppError[] {
  const query = route.query ?? z.strictObject({});
  const tries = [() => validate([{ source: 'query', schema: query, input: { colour: 'blue' } }])];
  if (route.body?.kind === 'json') {
    const { schema } = route.body;
    tries.push(() => validate([{ source: 'body', schema, input: {} }]));
  }
  return tries.flatMap(attempt => {
    try {
      attempt();
      return [];
    } catch (error) {
      return error instanceof AppError ? [error] : [];
    }
  });
}
