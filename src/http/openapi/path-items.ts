export interface DescribedAnswer {
  readonly description: string;
  /** Absent for an empty body. */
  readonly types?: readonly string[];
  /** JSON, a page or text, as the client accepts. */
  readonly isError?: boolean;
  /** Schema of a JSON body; a string if absent. */
  readonly schema?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly example?: unknown;
}

export interface DescribedPath {
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly answers: Readonly<Record<number, DescribedAnswer>>;
}

type PathItem = { [key: string]: unknown };

/** @param names descriptions of the path parameters; @throws Error for a missing one */
export function pathItems(
  paths: readonly DescribedPath[],
  names: Readonly<Record<string, string>>,
): Record<string, PathItem> {
  return Object.fromEntries(paths.map(path => [path.path, { get: operationOf(path, names) }]));
}

function operationOf(described: DescribedPath, names: Readonly<Record<string, string>>): PathItem {
  const { path, tag, summary, description, query = {}, headers = {}, answers } = described;
  const parameters = [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
      const sentence = names[name];
      if (sentence === undefined) throw new Error(`nothing is said of {${name}} in ${path}`);
      return { name, in: 'path', required: true, description: sentence, schema: { type: 'string' } };
    }),
    ...textParameters('query', query),
    ...textParameters('header', headers),
  ];
  return {
    operationId: `get${path.replace(/[{}]/g, '').replace(/[^A-Za-z0-9]+/g, '-')}`.replace(/-$/, ''),
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    security: [],
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, responseOf(answer)])),
      431: { $ref: '#/components/responses/HeadersTooLarge' },
    },
  };
}

function textParameters(place: 'query' | 'header', texts: Readonly<Record<string, string>>): PathItem[] {
  return Object.entries(texts).map(([name, description]) => ({
    name,
    in: place,
    description,
    schema: { type: 'string' },
  }));
}

const errorContent = {
  'application/json': { schema: { $ref: '#/components/schemas/Error' } },
  'text/html; charset=utf-8': { schema: { type: 'string' } },
  'text/plain; charset=utf-8': { schema: { type: 'string' } },
};

function responseOf({ description, types, isError, schema, headers, example }: DescribedAnswer): PathItem {
  return {
    description,
    ...(headers === undefined
      ? {}
      : {
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, sentence]) => [
              name,
              { description: sentence, schema: { type: 'string' } },
            ]),
          ),
        }),
    ...(isError ? { content: errorContent } : {}),
    ...(types === undefined
      ? {}
      : {
          content: Object.fromEntries(
            types.map(type => [
              type,
              { schema: schema ?? { type: 'string' }, ...(example === undefined ? {} : { example }) },
            ]),
          ),
        }),
  };
}
