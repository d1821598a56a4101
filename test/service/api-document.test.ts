import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type ApiDocument,
  buildApiDocument,
  type DocumentedOperation,
  operationsOf,
  resolveReference,
  responseAt,
} from '../../scripts/api-document.ts';
import { deliveryTypes } from '../../src/events/event-catalogue.ts';
import { errorRegister } from '../../src/shared/errors.ts';
import { contractIndex } from '../support/contract-index.ts';

let document: ApiDocument;
let operations: { method: string; path: string; operation: DocumentedOperation }[];
let text: string;
let ajv: Ajv2020;
const validators = new Map<string, ValidateFunction>();

beforeAll(async () => {
  document = await buildApiDocument();
  text = JSON.stringify(document);
  operations = operationsOf(document);
  ajv = new Ajv2020({ strict: true, allErrors: true, allowUnionTypes: true });
  addFormats.default(ajv);
  // An extension of OpenAPI's that JSON Schema does not know.
  ajv.addVocabulary(['discriminator', 'components']);
  ajv.addSchema({ $id: 'document', components: document.components });
});

/** A validator of a schema that stands in the document. */
function validatorOf(schema: object): ValidateFunction {
  const text = JSON.stringify(schema).replaceAll('"#/components/', '"document#/components/');
  const known = validators.get(text);
  if (known !== undefined) return known;
  const validator = ajv.compile(JSON.parse(text));
  validators.set(text, validator);
  return validator;
}

function nameOf({ method, path }: { method: string; path: string }): string {
  return `${method} ${path}`;
}

describe('the API document', () => {
  test('has every endpoint of the contract with its success status', () => {
    const described = new Set(
      operations.flatMap(entry =>
        Object.keys(entry.operation.responses).map(status => `${nameOf(entry)} ${status}`),
      ),
    );
    const expected = contractIndex.flatMap(([method, path, ...statuses]) =>
      statuses.map(status => `${method} ${path} ${status}`),
    );
    expect(expected.filter(line => !described.has(line))).toEqual([]);
  });

  test('has only schemas that a strict validator takes', () => {
    const problems: string[] = [];
    const check = (where: string, schema: object) => {
      try {
        validatorOf(schema);
      } catch (error) {
        problems.push(`${where}: ${String(error)}`);
      }
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) check(name, schema);
    for (const entry of operations) {
      const { parameters = [], requestBody, responses } = entry.operation;
      for (const parameter of parameters) check(`${nameOf(entry)} ${parameter.name}`, parameter.schema);
      for (const { schema } of Object.values(requestBody?.content ?? {})) check(nameOf(entry), schema);
      for (const response of Object.values(responses)) {
        for (const { schema } of Object.values(responseAt(document, response).content ?? {})) {
          check(nameOf(entry), schema);
        }
      }
    }
    expect(problems).toEqual([]);
  });

  test('has only references that lead somewhere, and nothing that none leads to', () => {
    const pointed = new Set([...text.matchAll(/"\$ref":"(#\/[^"]+)"/g)].map(([, pointer = '']) => pointer));
    const dangling = [...pointed].filter(pointer => resolveReference(document, pointer) === undefined);
    expect(dangling).toEqual([]);
    const { securitySchemes, ...referred } = document.components;
    const unused = Object.entries(referred).flatMap(([kind, byName]) =>
      Object.keys(byName)
        .map(name => `#/components/${kind}/${name}`)
        .filter(pointer => !pointed.has(pointer)),
    );
    expect(unused).toEqual([]);
    const schemes = new Set(operations.flatMap(({ operation }) => operation.security.flatMap(Object.keys)));
    expect([...schemes].sort()).toEqual(Object.keys(securitySchemes).sort());
  });

  test('says of every text of a request what is refused, such as U+0000', () => {
    const loose: string[] = [];
    const look = (node: unknown, place: string): void => {
      if (typeof node !== 'object' || node === null) return;
      const { type, ...rest } = node as Record<string, unknown>;
      const says = ['pattern', 'format', 'enum', 'const', 'contentMediaType'];
      if (type === 'string' && !says.some(key => key in rest)) loose.push(place);
      for (const [key, inner] of Object.entries(rest)) {
        if (!['example', 'examples', 'default'].includes(key)) look(inner, `${place}/${key}`);
      }
    };
    for (const { method, path, operation } of operations) {
      look(operation.requestBody?.content['application/json']?.schema, `${method} ${path}`);
    }
    expect(loose).toEqual([]);
  });

  test.each<[path: string, good: object, bad: object]>([
    ['/videos', { title: 'a', tags: ['a'], language: 'fr' }, { title: 'a', tags: ['a\0b'] }],
    ['/videos', { title: 'a', language: 'nn' }, { title: 'a', language: 'fr-CA' }],
    [
      '/videos',
      { title: 'a', clip: { lastSeconds: 5 } },
      { title: 'a', clip: { lastSeconds: 5, endTimecode: '6' } },
    ],
    [
      '/videos',
      { title: 'a', clip: { startTimecode: '00:01:02.5' } },
      { title: 'a', clip: { startTimecode: 'x' } },
    ],
    [
      '/webhooks',
      { url: 'https://hooks.example.net/in', events: ['video.source.recorded'] },
      { url: 'ftp://hooks.example.net/in', events: ['video.source.recorded'] },
    ],
    [
      '/live-streams',
      { name: 'a', restreams: [{ name: 'a', serverUrl: 'RTMP://a.example.net/live', streamKey: 'a' }] },
      { name: 'a', restreams: [{ name: 'a', serverUrl: 'http://a.example.net/live', streamKey: 'a' }] },
    ],
    [
      '/live-streams',
      { name: 'a', restreams: [{ name: 'a', serverUrl: 'srt://[::1]:9000?latency=200', streamKey: 'a' }] },
      { name: 'a', restreams: [{ name: 'a', serverUrl: 'srt://a.example.net', streamKey: 'a' }] },
    ],
    ...[
      ['rtsp://user:p@ss@camera.example.net/one', 'RTSP://'],
      ['rtmp://camera.example.net/one', 'rtmp://camera.example.net/'],
      ['https://[2001:db8::1]:8443/live.m3u8?a=b', 'https://a b/'],
    ].map(([good, bad]): [string, object, object] => [
      '/live-streams',
      { name: 'a', source: { url: good } },
      { name: 'a', source: { url: bad } },
    ]),
    [
      '/live-streams',
      { name: 'a', audioTracks: [{ language: 'ZH-hans-cn' }] },
      { name: 'a', audioTracks: [{ language: 'aa' }] },
    ],
    ...[
      ['https://käse.example:8080?a#b', 'http://'],
      ['http://name:secret@hooks.example.net/in', 'http://hooks.example.net/a\u0080b'],
      ['http://192.0.2.1', 'http://a<b.example/'],
    ].map(([good, bad]): [string, object, object] => ['/webhooks/check', { url: good }, { url: bad }]),
    ...[
      ["Jo.O'Neil+news@Example.org", 'a@b@example.org'],
      [`${'a'.repeat(64)}@localhost`, `${'a'.repeat(65)}@localhost`],
      ['a@bücher.example', 'a..b@example.org'],
      ['a@b-c.example', 'a@b-.example'],
    ].map(([good, bad]): [string, object, object] => [
      '/auth/password-resets',
      { email: good },
      { email: bad },
    ]),
    ['/players', { text: 'rgba(1, 2, 3, .5)' }, { text: 'red' }],
    ['/players', { text: 'rgba(255,0,099,1.0)' }, { text: 'rgba(256,0,0,1)' }],
    ['/players', { text: 'RGBA( 0, 0, 0, 0.25 )' }, { text: 'rgba(0,0,0,1.5)' }],
    ['/account/retention', { keepVideosDays: null, applyToExisting: true }, { applyToExisting: true }],
  ])('tells what a body of POST or PATCH %s may be', (path, good, bad) => {
    const changes = operations.filter(one => one.path === path && one.operation.requestBody !== undefined);
    const { operation } = changes.find(one => one.method.toUpperCase() === 'POST') ?? changes[0]!;
    const isValid = validatorOf(operation.requestBody!.content['application/json']!.schema);
    expect([isValid(good), isValid(bad)]).toEqual([true, false]);
  });

  test('has examples that its schemas allow, for every JSON body and named schema', () => {
    const problems: string[] = [];
    const check = (where: string, schema: object, values: readonly unknown[]) => {
      const validate = validatorOf(schema);
      for (const value of values) {
        if (!validate(value)) problems.push(`${where}: ${ajv.errorsText(validate.errors)}`);
      }
    };
    const answered = new Set(operations.flatMap(({ operation }) => answeredBy(operation)));
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      const { examples } = schema as { examples?: unknown[] };
      if (examples === undefined && answered.has(`#/components/schemas/${name}`))
        problems.push(`${name}: no example`);
      check(name, schema, examples ?? []);
    }
    for (const entry of operations) {
      const { parameters = [], requestBody, responses } = entry.operation;
      for (const { name, schema, example } of parameters) {
        if (example !== undefined) check(`${nameOf(entry)} ${name}`, schema, [example]);
      }
      const json = requestBody?.content['application/json'];
      if (json !== undefined) {
        const values = valuesOf(json);
        if (values.length === 0) problems.push(`${nameOf(entry)}: a body without an example`);
        check(nameOf(entry), json.schema, values);
      }
      for (const [status, response] of Object.entries(responses)) {
        for (const content of Object.values(responseAt(document, response).content ?? {})) {
          check(`${nameOf(entry)} ${status}`, content.schema, valuesOf(content));
        }
      }
    }
    expect(problems).toEqual([]);
  });

  test('shows an error of the right status for every refusal of the API', () => {
    const problems: string[] = [];
    for (const entry of operations) {
      if (['Delivery', 'Documentation'].includes(entry.operation.tags[0] ?? '')) continue;
      for (const [status, response] of Object.entries(entry.operation.responses)) {
        if (Number(status) < 400) continue;
        const json = responseAt(document, response).content?.['application/json'];
        const values = json === undefined ? [] : valuesOf(json);
        if (values.length === 0) problems.push(`${nameOf(entry)} ${status}: no example`);
        for (const value of values as { status: number; type?: string }[]) {
          if (value.status !== Number(status))
            problems.push(`${nameOf(entry)} ${status}: shows ${value.status}`);
          const slug = value.type?.split('/').at(-1);
          if (slug !== undefined && !Object.hasOwn(errorRegister, slug)) problems.push(`unknown ${slug}`);
        }
      }
    }
    expect(problems).toEqual([]);
  });

  test('declares every name of a path, once and required', () => {
    const problems = operations.flatMap(entry => {
      const inPath = [...entry.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared = (entry.operation.parameters ?? []).filter(parameter => parameter.in === 'path');
      const isRight =
        declared.every(({ required, description }) => required === true && (description ?? '') !== '') &&
        inPath.join() === declared.map(({ name }) => name).join();
      return isRight ? [] : [nameOf(entry)];
    });
    expect(problems).toEqual([]);
  });

  test('says something of every query and header parameter and of every tag', () => {
    const problems = operations.flatMap(entry => [
      ...(entry.operation.parameters ?? [])
        .filter(({ description = '' }) => description === '')
        .map(({ name }) => `${nameOf(entry)}: ${name}`),
      ...entry.operation.tags
        .filter(tag => !document.tags.some(({ name }) => name === tag))
        .map(tag => `${nameOf(entry)}: the tag ${tag}`),
    ]);
    expect(problems).toEqual([]);
    const used = new Set(operations.flatMap(({ operation }) => operation.tags));
    expect(document.tags.map(({ name }) => name).filter(name => !used.has(name))).toEqual([]);
  });

  test('gives every operation a name of its own that can stand in code', () => {
    const names = operations.map(({ operation }) => operation.operationId);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter(name => !/^[a-z][A-Za-z0-9_-]*$/.test(name))).toEqual([]);
    expect(names).toEqual(expect.arrayContaining(['get-videos', 'get-videos-videoId', 'post-upload']));
  });

  test('tells what webhooks are sent, with an example that fits', () => {
    const items = Object.entries(document.webhooks ?? {});
    expect(items.map(([name]) => name)).toEqual(deliveryTypes);
    for (const [name, { post }] of items) {
      const { requestBody } = post as DocumentedOperation;
      const { schema, example } = requestBody!.content['application/json']!;
      const validate = validatorOf(schema);
      expect([name, validate(example), validate.errors]).toEqual([name, true, null]);
      expect(example).toMatchObject({ type: name });
    }
  });

  test('tells lists and maps of queries in the form in which they are sent', () => {
    const parameters = document.paths['/videos']!.get!.parameters!;
    expect(parameters.find(({ name }) => name === 'tags[]')).toMatchObject({ style: 'form', explode: true });
    expect(parameters.find(({ name }) => name === 'metadata')).toMatchObject({
      style: 'deepObject',
      explode: true,
    });
    expect(parameters.find(({ name }) => name === 'pageSize')).toMatchObject({
      schema: { minimum: 1, maximum: 100, default: 25 },
    });
  });

  test('describes the answer to headers that are too large on every path', () => {
    const missing = operations.filter(({ operation }) => operation.responses[431] === undefined).map(nameOf);
    expect(missing).toEqual([]);
    const { content } = responseAt(document, operations[0]!.operation.responses[431]!);
    expect(valuesOf(content!['application/json']!)).toMatchObject([
      { status: 431, title: 'The payload is too large.' },
    ]);
  });

  test.each(['captions', 'chapters'])('gives the language of %s a pattern', kind => {
    const { parameters } = document.paths[`/videos/{videoId}/${kind}/{language}`]!.post!;
    const { pattern } = parameters!.find(({ name }) => name === 'language')!.schema as { pattern: string };
    const form = new RegExp(pattern);
    expect(['fr', 'zh-Hans-CN', 'es-419', 'fr_FR', '419', '', 'fr-'].filter(tag => form.test(tag))).toEqual([
      'fr',
      'zh-Hans-CN',
      'es-419',
    ]);
  });

  test('tells which pieces of a file an upload may have', () => {
    const { parameters, requestBody } = document.paths['/upload']!.post!;
    expect(parameters?.map(({ name, in: place }) => `${place} ${name}`)).toEqual([
      'query token',
      'header Content-Range',
    ]);
    const { schema } = requestBody!.content['multipart/form-data']!;
    expect(Object.keys((schema as { properties: object }).properties)).toEqual(['videoId', 'file']);
  });
});

/** Schemas that an operation answers with when it succeeds: one resource, or a list of it. */
function answeredBy({ responses }: DocumentedOperation): string[] {
  return Object.entries(responses)
    .filter(([status]) => Number(status) < 300)
    .flatMap(([, response]) => Object.values(responseAt(document, response).content ?? {}))
    .map(({ schema }) => schema as { $ref?: string; properties?: { data?: { items?: { $ref?: string } } } })
    .flatMap(({ $ref, properties }) => $ref ?? properties?.data?.items?.$ref ?? []);
}

function valuesOf(content: {
  example?: unknown;
  examples?: Readonly<Record<string, { value?: unknown; $ref?: string }>>;
}): unknown[] {
  if (content.example !== undefined) return [content.example];
  return Object.values(content.examples ?? {}).map(({ $ref, value }) =>
    $ref === undefined ? value : (resolveReference(document, $ref) as { value: unknown }).value,
  );
}
