import { gzipSync } from 'node:zlib';
import type { DocumentedOperation } from '../../scripts/api-document.ts';
import type { HttpQuery } from '../support/http-test-client.ts';

/** An operation of the API document. */
export interface WalkedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: DocumentedOperation;
}

/** A request, and what is odd about it. */
export interface BadRequest extends HttpQuery {
  readonly why: string;
}

/** JSON values that a field may be sent in place of its own, as they stand in a body. */
const badValues: Readonly<Record<string, string>> = {
  null: 'null',
  true: 'true',
  zero: '0',
  'negative zero': '-0',
  fraction: '1.5',
  huge: '1e308',
  'past all numbers': '1e400',
  'past safe integers': '9007199254740993',
  'negative huge': '-1e308',
  'a number of a thousand digits': '9'.repeat(1_000),
  'empty text': '""',
  'long text': `"${'x'.repeat(70_000)}"`,
  'long letters outside of the BMP': `"${'𝒳'.repeat(2_000)}"`,
  NUL: '"a\\u0000b"',
  'half a surrogate pair': '"\\ud800"',
  'control characters': '"a\\r\\nSet-Cookie: a=b\\u001b[2J"',
  'marks and quotes': `"' OR 1=1 --\\"; DROP TABLE videos; <script>alert(1)</script>"`,
  'a path': '"../../../etc/passwd"',
  'a name of all objects': '"__proto__"',
  'empty list': '[]',
  'list of lists': '[[[]],[]]',
  'list of null': '[null]',
  'list of many': `[${'1,'.repeat(3_000)}1]`,
  'empty object': '{}',
  'object of unknown names': '{"toString":1,"constructor":{"prototype":{"a":1}},"hasOwnProperty":"b"}',
  'object with a prototype': '{"__proto__":{"isAdmin":true}}',
  'deep list': '['.repeat(40) + ']'.repeat(40),
};

/** Whole bodies where JSON is due. */
const badBodies: Readonly<Record<string, Buffer>> = {
  nothing: Buffer.alloc(0),
  null: Buffer.from('null'),
  'a list': Buffer.from('[]'),
  'a text': Buffer.from('"a"'),
  'a number': Buffer.from('1'),
  'a list of ten thousand levels': Buffer.from('['.repeat(10_000)),
  'an object of ten thousand levels': Buffer.from(`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`),
  'an open text': Buffer.from('{"title":"a'),
  'broken UTF-8': Buffer.from([...Buffer.from('{"title":"'), 0xff, 0xc0, 0x80, ...Buffer.from('"}')]),
  'UTF-16': Buffer.from('\ufeff{"title":"a"}', 'utf16le'),
  'a prototype': Buffer.from('{"__proto__":{"title":"a"},"title":"a"}'),
  'names of all objects': Buffer.from('{"constructor":{},"toString":"a","hasOwnProperty":1,"valueOf":[]}'),
  'twenty thousand names': Buffer.from(`{${Array.from({ length: 20_000 }, (_, n) => `"${n}":0`).join(',')}}`),
  'a long name': Buffer.from(`{"${'n'.repeat(200_000)}":1}`),
  'too much': Buffer.from(`{"a":"${'x'.repeat(1_100_000)}"}`),
  'bytes of zero': Buffer.alloc(2_000),
};

/** Values that may stand behind the name of a query parameter. */
const badQueries: Readonly<Record<string, (name: string) => string>> = {
  empty: name => `${name}=`,
  'no value': name => name,
  twice: name => `${name}=1&${name}=2`,
  long: name => `${name}=${'x'.repeat(8_000)}`,
  'in brackets': name => `${name}[x]=1`,
  'in deep brackets': name => `${name}${'[x]'.repeat(1_000)}=1`,
  'in open brackets': name => `${name}[=1&${name}]=1&${name}[x]y=1`,
  'many values': name => `${name}[]=1&`.repeat(900),
  prototype: name => `${name}[__proto__]=x&${name}[__proto__][x]=1`,
  'a constructor': (name: string) => `${name}[constructor]=x&${name}[constructor][prototype][x]=1`,
  length: name => `${name}[length]=5&${name}[0]=a`,
  NUL: name => `${name}=%00&${name}[%00]=%00`,
  'broken UTF-8': name => `${name}=%ff%c0%80&${name}[]=%ff`,
  'broken encoding': name => `${name}=%zz%&${name}[]=%`,
  'a number past all': name => `${name}=1e400`,
  'a number past safe integers': name => `${name}=9007199254740993`,
  'a negative number': name => `${name}=-1`,
  'marks and quotes': name => `${name}=%27%20OR%201%3D1%20--%22%3B%25_*%3Cscript%3E`,
};
const badWholeQueries = [
  'unexpected=1&unexpected[__proto__]=2&unexpected[]=3',
  '__proto__=1',
  '__proto__[x]=1',
  'constructor[prototype][x]=1',
  'toString[]=1',
  'hasOwnProperty=1&valueOf=1',
  '%00=%00',
  '[]=1&[x]=1&=1&=',
  '&&&&;;=?a=b?',
  `${'a=1&'.repeat(2_000)}`,
  `${'x'.repeat(10_000)}=1`,
];

/** Values that may stand in a path in place of an id. */
const badIds = [
  '%00',
  'a%00b',
  '..',
  '%2e%2e',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '..%5c..%5cwindows',
  '%2f',
  'a%2fb',
  '%ff%fe',
  '%zz',
  '%',
  '%E4%F6',
  '__proto__',
  'constructor',
  'toString',
  '%20',
  ':id',
  '*',
  '{id}',
  '(.*)',
  ';a=b',
  "'",
  '%F0%9D%92%B3',
  'x'.repeat(10_000),
  '%41'.repeat(3_000),
];

/** Headers that mean something elsewhere, or nothing. */
const badHeaders: readonly Readonly<Record<string, string>>[] = [
  { range: 'bytes=-1-9999999999999999999999,abc' },
  { range: `bytes=${'0-0,'.repeat(1_000)}0-0` },
  { 'content-range': 'bytes */*' },
  { 'content-range': 'part 99999999999999999999/1' },
  { 'content-range': 'bytes 5-1/2, part 1/1' },
  { 'if-none-match': '*', 'if-modified-since': 'never', 'if-range': '"' },
  { 'content-type': 'application/x-www-form-urlencoded' },
  { 'content-type': '' },
  { 'content-type': 'multipart/form-data' },
  { 'content-type': 'multipart/form-data; boundary=' },
  { 'content-type': `multipart/form-data; boundary=${'b'.repeat(300)}` },
  { 'content-type': 'text/html; charset=utf-7, application/json' },
  { accept: 'text/html;q=0, nothing/at-all' },
  { cookie: `avh=${'x'.repeat(8_000)}; __proto__=1` },
  { 'x-forwarded-for': "' OR 1=1 --, ::1, 999.999.999.999", forwarded: 'for=";"', host: 'evil.example' },
  { 'x-http-method-override': 'DELETE', 'x-original-url': '/metrics' },
  { 'av-origin-client': '../../\\u0000', 'av-origin-sdk': '%%%' },
  { 'user-agent': '<script>alert(1)</script>'.repeat(100) },
  { connection: 'close, upgrade', upgrade: 'h2c, websocket' },
];

/** Values of `Authorization` that open nothing. */
const badCredentials = [
  '',
  'Basic',
  'Basic ',
  'Basic !!!!',
  'Basic =',
  `Basic ${Buffer.from('no colon').toString('base64')}`,
  `Basic ${Buffer.from(':').toString('base64')}`,
  `Basic ${Buffer.from([0xff, 0x00, 0x3a]).toString('base64')}`,
  `Basic ${Buffer.from('__proto__:').toString('base64')}`,
  `Basic ${Buffer.from(`${'k'.repeat(6_000)}:`).toString('base64')}`,
  'Bearer',
  'Bearer ',
  'Bearer null',
  'Bearer a b c',
  `Bearer ${'t'.repeat(8_000)}`,
  'Digest username="a"',
  'basic basic basic',
];

const boundary = 'edge';
const part = (disposition: string, content = 'x', more = '') =>
  `--${boundary}\r\nContent-Disposition: form-data; ${disposition}\r\n${more}\r\n${content}\r\n`;
const end = `--${boundary}--\r\n`;
const aFile = part('name="file"; filename="a.png"');

/** Bodies where a form with a file is due. */
const badForms: Readonly<Record<string, Buffer>> = {
  nothing: Buffer.alloc(0),
  'no part': Buffer.from(end),
  'no end': Buffer.from(aFile),
  'an end in the middle of a line': Buffer.from(`${aFile}--${boundary}-`),
  'no file': Buffer.from(part('name="a"') + end),
  'an empty file': Buffer.from(part('name="file"; filename="a.png"', '') + end),
  'two files': Buffer.from(aFile + aFile + end),
  'ten thousand parts': Buffer.from(part('name="a"').repeat(10_000) + aFile + end),
  'a huge name': Buffer.from(part(`name="${'n'.repeat(100_000)}"`) + aFile + end),
  'a long name': Buffer.from(part(`name="${'n'.repeat(7_000)}"`) + aFile + end),
  'a long field': Buffer.from(part('name="a"', 'v'.repeat(200_000)) + aFile + end),
  'a form in a form': Buffer.from(
    `--${boundary}\r\nContent-Type: multipart/mixed; boundary=inner\r\n\r\n--inner\r\n\r\nx\r\n--inner--\r\n${aFile}${end}`,
  ),
  'names of all objects': Buffer.from(
    part('name="__proto__"') +
      part('name="constructor"') +
      part('name="__proto__"; filename="__proto__"') +
      end,
  ),
  'a path for a name': Buffer.from(part('name="file"; filename="../../../../etc/passwd\\..\\..\\a"') + end),
  'a NUL in the name': Buffer.from(part('name="file\u0000"; filename="a\u0000b.png"') + end),
  'no name at all': Buffer.from(part('name=""; filename=""') + end),
  'a broken extended name': Buffer.from(part("name=file; filename*=UTF-8''%ff%zz") + end),
  'broken UTF-8 in names': Buffer.from(part('name="\xff\xfe"; filename="\xc0\x80"') + end, 'latin1'),
  'a header of two lines': Buffer.from(part('name="file";\r\n filename="a"') + end),
  'a header without a name': Buffer.from(`--${boundary}\r\n: x\r\nno colon\r\n\r\nx\r\n${end}`),
  'an encoding': Buffer.from(
    part('name="file"; filename="a"', 'eA==', 'Content-Transfer-Encoding: base64\r\n') + end,
  ),
  JSON: Buffer.from('{"file":"a"}'),
  noise: Buffer.from(Array.from({ length: 20_000 }, (_, n) => (n * 7_919) % 256)),
};

/** Names of all fields of a schema, each as the way to it. */
function fieldsOf(schema: object, way: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  const {
    properties = {},
    items,
    anyOf = [],
  } = schema as {
    properties?: Record<string, object>;
    items?: object;
    anyOf?: object[];
  };
  return [
    ...Object.entries(properties).flatMap(([name, inner]) => [
      [...way, name],
      ...fieldsOf(inner, [...way, name]),
    ]),
    ...(items === undefined ? [] : [[...way, 0], ...fieldsOf(items, [...way, 0])]),
    ...anyOf.flatMap(inner => fieldsOf(inner, way)),
  ];
}

const mark = '@@here@@';

/** A body as text, with something else at the end of a way into it. */
function bodyWith(base: object, way: readonly (string | number)[], raw: string): string {
  const body = structuredClone(base) as Record<string | number, unknown>;
  let at = body;
  for (const [depth, step] of way.entries()) {
    if (depth === way.length - 1) at[step] = mark;
    else {
      const inner = at[step];
      at[step] =
        typeof inner === 'object' && inner !== null ? inner : typeof way[depth + 1] === 'number' ? [] : {};
      at = at[step] as Record<string | number, unknown>;
    }
  }
  return JSON.stringify(body).replace(JSON.stringify(mark), () => raw);
}

/** The body that the document shows, with ids of what is there in place of those that it makes up. */
export function exampleOf(
  { requestBody }: DocumentedOperation,
  ids: Readonly<Record<string, string>>,
): object {
  const content = requestBody?.content['application/json'];
  const example = content?.example ?? Object.values(content?.examples ?? {})[0]?.value ?? {};
  const text = JSON.stringify(example, (name, value) =>
    typeof value === 'string' && Object.hasOwn(ids, name) ? ids[name] : value,
  );
  return JSON.parse(text) as object;
}

/** Tells whether a form with a file is due. */
export function takesFile({ requestBody }: DocumentedOperation): boolean {
  return requestBody?.content['multipart/form-data'] !== undefined;
}

/**
 * Lists the bad requests that are tried on an operation.
 *
 * @param there a path on which it works
 * @param nowhere the same with ids that never were, for what must not happen again and again
 * @param ids what is there, by the names of fields that name it
 */
export function* badRequestsOf(
  { method, operation }: WalkedOperation,
  {
    there,
    nowhere,
    path,
    headers,
    ids,
  }: {
    there: string;
    nowhere: string;
    path: string;
    headers: Record<string, string>;
    ids: Readonly<Record<string, string>>;
  },
): Generator<BadRequest> {
  const isJson = operation.requestBody?.content['application/json'] !== undefined;
  const isForm = takesFile(operation);
  const formHeaders = { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` };
  if (isJson) {
    const base = exampleOf(operation, ids);
    for (const way of fieldsOf(operation.requestBody!.content['application/json']!.schema)) {
      for (const [why, raw] of Object.entries(badValues)) {
        yield {
          why: `${way.join('.')}: ${why}`,
          method,
          path: there,
          headers,
          body: bodyWith(base, way, raw),
        };
      }
    }
    const whole = JSON.stringify(base);
    const bodies: Record<string, Buffer> = {
      ...badBodies,
      'half of it': Buffer.from(whole.slice(0, whole.length / 2)),
      'a byte order mark': Buffer.from(`\ufeff${whole}`),
      'all twice': Buffer.from(`${whole.slice(0, -1)},${whole.slice(1)}`),
      'two bodies': Buffer.from(`${whole}${whole}`),
      'gzipped bytes': gzipSync(whole),
    };
    for (const [why, body] of Object.entries(bodies)) yield { why, method, path: there, headers, body };
    const gzip = { ...headers, 'content-encoding': 'gzip', 'content-type': 'application/json' };
    yield { why: 'gzip', method, path: there, headers: gzip, body: bodies['gzipped bytes'] };
  }
  if (isForm) {
    for (const [why, body] of Object.entries(badForms))
      yield { why, method, path: there, headers: formHeaders, body };
    yield { why: 'no body', method, path: there, headers };
  }
  const body = isJson ? '{}' : isForm ? badForms['no part'] : undefined;
  const tame = method === 'GET' || isJson ? there : nowhere;
  const plain = isForm ? formHeaders : headers;
  const names = (operation.parameters ?? [])
    .filter(({ in: place }) => place === 'query')
    .map(({ name }) => name.replace('[]', ''));
  for (const name of names) {
    for (const [why, query] of Object.entries(badQueries)) {
      yield { why: `query ${name} ${why}`, method, path: `${tame}?${query(name)}`, headers: plain, body };
    }
  }
  for (const [name, inner] of (operation.parameters ?? []).flatMap(({ name, schema }) =>
    Object.keys((schema as { properties?: object }).properties ?? {}).map(inner => [name, inner] as const),
  )) {
    for (const [why, query] of Object.entries(badQueries)) {
      yield {
        why: `${name} ${inner} ${why}`,
        method,
        path: `${tame}?${query(`${name}[${inner}]`)}`,
        headers: plain,
        body,
      };
    }
  }
  for (const query of badWholeQueries)
    yield { why: 'query', method, path: `${tame}?${query}`, headers: plain, body };
  for (const place of path.matchAll(/\{\w+\}/g)) {
    for (const id of badIds) {
      const before = path.slice(0, place.index).replace(/\{\w+\}/g, 'en');
      const after = path.slice(place.index + place[0].length).replace(/\{\w+\}/g, 'en');
      yield { why: 'id', method, path: `${before}${id}${after}`, headers: plain, body };
    }
  }
  for (const more of badHeaders) {
    yield { why: `headers ${Object.keys(more)}`, method, path: tame, headers: { ...plain, ...more }, body };
  }
  if (operation.security.length > 0) {
    for (const authorization of badCredentials) {
      yield { why: 'credentials', method, path: tame, headers: { ...plain, authorization }, body };
    }
  }
  for (const other of ['HEAD', 'OPTIONS', 'PUT', 'PROPFIND', 'TRACE', 'QUERY', 'M-SEARCH']) {
    yield { why: 'method', method: other, path: nowhere, headers };
  }
  if (!isJson && !isForm) {
    const form = formHeaders;
    yield { why: 'a body where none is due', method, path: tame, headers, body: badBodies['bytes of zero'] };
    yield { why: 'a form where none is due', method, path: tame, headers: form, body: badForms['two files'] };
  }
}

/** The same numbers for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A JSON value that nobody thought of. */
export function randomJson(random: () => number, depth = 0): string {
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]!;
  const kind = random();
  if (kind < 0.5 || depth > 4) return pick(Object.values(badValues));
  if (kind < 0.6)
    return JSON.stringify(
      String.fromCharCode(...Array.from({ length: random() * 20 }, () => random() * 65_536)),
    );
  const inner = Array.from({ length: random() * 4 }, () => randomJson(random, depth + 1));
  if (kind < 0.8) return `[${inner.join(',')}]`;
  const names = ['id', 'key', 'value', 'title', 'name', 'top', 'eat', 'typ', 'toString', ''];
  return `{${inner.map(value => `${JSON.stringify(pick(names))}:${value}`).join(',')}}`;
}

/** A request to an operation, with some of it left to chance. */
export function randomRequest(
  { method, operation }: WalkedOperation,
  sent: { path: string; headers: Record<string, string>; ids: Readonly<Record<string, string>> },
  random: () => number,
): BadRequest {
  const { path } = sent;
  let { headers } = sent;
  const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]!;
  const query = Array.from({ length: random() * 4 }, () => {
    const names = ['unexpected', ...(operation.parameters ?? []).map(({ name }) => name)];
    return pick(Object.values(badQueries))(pick(names).replace('[]', '')).slice(0, 3_000);
  });
  const schema = operation.requestBody?.content['application/json']?.schema;
  let body: string | Buffer | undefined;
  if (schema !== undefined) {
    const ways = fieldsOf(schema);
    let changed = exampleOf(operation, sent.ids);
    for (let times = 0; times <= random() * 3 && ways.length > 0; times += 1) {
      const raw = bodyWith(changed, pick(ways), randomJson(random));
      // Changes what stays JSON further.
      try {
        changed = JSON.parse(raw) as object;
      } catch {
        break;
      }
      body = raw;
    }
    body ??= JSON.stringify(changed);
  } else if (takesFile(operation)) {
    body = pick(Object.values(badForms));
    headers = { ...headers, 'content-type': `multipart/form-data; boundary=${boundary}` };
  }
  const more = random() < 0.2 ? pick(badHeaders) : {};
  const asked = query.length === 0 ? path : `${path}?${query.join('&')}`;
  return { why: 'chance', method, path: asked, headers: { ...headers, ...more }, body };
}
