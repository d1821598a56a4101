import type { ApiDocument, DocumentedContent, DocumentedOperation } from './api-document.ts';
import { operationsOf, responseAt } from './api-document.ts';

/** A JSON schema, as far as the API's own are made of it. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

const pathStart = '#/components/schemas/';
const indent = '  ';
const maxLineLength = 110;
/** Indentation in an operation. */
const inOperation = indent.repeat(2);

/**
 * TypeScript types of the operations that `sources` call, from the OpenAPI document: the type of each schema that they need, and the
 * interface `Operations` with the input (`params`, `query`, `body`) and the output (`answer`) of each `METHOD /path`.
 */
export function apiTypesOf(document: ApiDocument, sources: string): string {
  const operations = operationsOf(document)
    .filter(({ method, path }) => sources.includes(`'${method} ${path}'`))
    .map(({ method, path, operation }) => `  '${method} ${path}': ${operationType(document, operation)};\n`);
  const schemas = new Map(
    Object.entries(document.components.schemas).map(([name, schema]) => [
      nameOf(name),
      `export type ${nameOf(name)} = ${typeOf(schema as Schema, '')};\n`,
    ]),
  );
  const needed = new Set<string>();
  const require = (text: string) => {
    for (const [name, declaration] of schemas) {
      if (needed.has(name) || !new RegExp(`\\b${name}\\b`).test(text)) continue;
      needed.add(name);
      require(declaration);
    }
  };
  require(operations.join(''));
  const imports = [...sources.matchAll(/import type \{([^}]*)\} from '[^']*api-types\.ts'/g)];
  const imported = imports.map(([, names]) => names).join(',');
  require(imported);
  const declarationOf = (name: string, declaration: string) =>
    new RegExp(`\\b${name}\\b`).test(imported) ? declaration : declaration.replace('export ', '');
  return `// Written from the OpenAPI document by \`node scripts/write-references.ts\`; do not edit.

${[...schemas].flatMap(([name, text]) => (needed.has(name) ? [declarationOf(name, text)] : [])).join('\n')}
export interface Operations {
${operations.join('')}}
`;
}

function operationType(document: ApiDocument, operation: DocumentedOperation): string {
  const parameters = operation.parameters ?? [];
  const objectOf = (place: 'path' | 'query') => {
    const members = parameters
      .filter(parameter => parameter.in === place)
      .map(({ name, required, schema }) =>
        memberOf(name, typeOf(schema as Schema, inOperation), required === true),
      );
    return members.length === 0 ? 'undefined' : `{ ${members.join(' ')} }`;
  };
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1];
  const answer = success === undefined ? undefined : responseAt(document, success).content;
  const members = [
    `params: ${objectOf('path')};`,
    `query: ${objectOf('query')};`,
    `body: ${bodyType(operation.requestBody?.content)};`,
    `answer: ${bodyType(answer)};`,
  ];
  const line = `{ ${members.join(' ')} }`;
  if (line.length <= maxLineLength && !line.includes('\n')) return line;
  return `{\n${members.map(member => `${inOperation}${member}\n`).join('')}${indent}}`;
}

function bodyType(content: DocumentedContent | undefined): string {
  if (content === undefined) return 'undefined';
  const json = content['application/json'];
  if (json !== undefined) return typeOf(json.schema as Schema, inOperation);
  if (content['multipart/form-data'] !== undefined) return 'FormData';
  return Object.keys(content).every(type => type.startsWith('image/')) ? 'Blob' : 'string';
}

function typeOf(schema: Schema, at: string): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref.slice(pathStart.length));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(value => JSON.stringify(value)).join(' | ');
  if (schema.anyOf !== undefined) return union(schema.anyOf.map(one => typeOf(one, at)));
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  return types.length === 0 ? 'unknown' : union(types.map(type => typeNamed(type, schema, at)));
}

function typeNamed(type: string, schema: Schema, at: string): string {
  switch (type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'array': {
      const item = schema.items === undefined ? 'unknown' : typeOf(schema.items, at);
      return `readonly ${/[ |]/.test(item) && !item.startsWith('{') ? `(${item})` : item}[]`;
    }
    case 'object':
      return objectType(schema, `${at}${indent}`);
    default:
      return type;
  }
}

function objectType({ properties, required, additionalProperties }: Schema, at: string): string {
  if (properties === undefined) {
    const value = typeof additionalProperties === 'object' ? typeOf(additionalProperties, at) : 'unknown';
    return `Readonly<Record<string, ${value}>>`;
  }
  const members = Object.entries(properties).map(([name, schema]) =>
    memberOf(name, typeOf(schema, at), required?.includes(name) === true),
  );
  const line = `{ ${members.join(' ')} }`;
  if (line.length <= maxLineLength && !line.includes('\n')) return line;
  return `{\n${members.map(member => `${at}${member}\n`).join('')}${at.slice(indent.length)}}`;
}

function memberOf(name: string, type: string, isRequired: boolean): string {
  const key = /^\w+$/.test(name) ? name : `'${name}'`;
  // Whoever calls may have it or not: an absent value is not sent.
  return `readonly ${key}${isRequired ? '' : '?'}: ${type}${isRequired ? '' : ' | undefined'};`;
}

/** One that browsers have a type of. */
function nameOf(schema: string): string {
  return schema === 'Error' ? 'ErrorBody' : schema;
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}
