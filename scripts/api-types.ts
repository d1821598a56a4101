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
 * interface `Operations` with the input (`query`, `body`) and the output (`answer`) of each `METHOD /path`, as far as it has them.
 * Objects that several of them contain have a type of their own.
 */
export function apiTypesOf(document: ApiDocument, sources: string): string {
  const imports = [...sources.matchAll(/import type \{([^}]*)\} from '[^']*api-types\.ts'/g)];
  const imported = imports.map(([, names]) => names).join(',');
  const called = operationsOf(document).filter(({ method, path }) => sources.includes(`'${method} ${path}'`));
  const schemas = Object.entries(document.components.schemas) as [string, Schema][];
  const operationsWith = (writer: TypeWriter) =>
    called.map(
      ({ method, path, operation }) => `  '${method} ${path}': ${writer.operation(document, operation)};\n`,
    );
  const needed = neededOf(`${operationsWith(new TypeWriter())}${imported}`, schemas);
  const writeAll = (writer: TypeWriter) => ({
    declarations: schemas
      .filter(([name]) => needed.has(nameOf(name)))
      .map(([name, schema]) => {
        const isImported = new RegExp(`\\b${nameOf(name)}\\b`).test(imported);
        return `${isImported ? 'export ' : ''}type ${nameOf(name)} = ${writer.type(schema, '', '')};\n`;
      }),
    operations: operationsWith(writer),
  });
  const first = new TypeWriter();
  writeAll(first);
  const shared = first.repeatedTypes(new Set(schemas.map(([name]) => nameOf(name))));
  const { declarations, operations } = writeAll(new TypeWriter(shared));
  const sharedDeclarations = [...shared.values()].map(
    ({ name, schema }) => `type ${name} = ${new TypeWriter(shared).type(schema, '', '')};\n`,
  );
  return `// Written from the OpenAPI document by \`node scripts/write-references.ts\`; do not edit.

${[...declarations, ...sharedDeclarations].join('\n')}
export interface Operations {
${operations.join('')}}
`;
}

/** Lists the schemas that a text names, and those that they name. */
function neededOf(text: string, schemas: readonly (readonly [string, Schema])[]): ReadonlySet<string> {
  const needed = new Set<string>();
  const visit = (types: string) => {
    for (const [name, schema] of schemas) {
      if (needed.has(nameOf(name)) || !new RegExp(`\\b${nameOf(name)}\\b`).test(types)) continue;
      needed.add(nameOf(name));
      visit(new TypeWriter().type(schema, '', ''));
    }
  };
  visit(text);
  return needed;
}

interface SharedType {
  readonly name: string;
  readonly schema: Schema;
}

class TypeWriter {
  /** Types with a name by their text. */
  readonly #shared: ReadonlyMap<string, SharedType>;
  /** Objects by their text, with the member that had each first. */
  readonly #written = new Map<string, { readonly schema: Schema; readonly member: string; count: number }>();

  constructor(shared: ReadonlyMap<string, SharedType> = new Map()) {
    this.#shared = shared;
  }

  /** Names the objects of several lines that were written more than once. */
  repeatedTypes(taken: ReadonlySet<string>): Map<string, SharedType> {
    const repeated = new Map<string, SharedType>();
    const used = new Set(taken);
    for (const [text, { schema, member, count }] of this.#written) {
      if (count < 2 || !text.includes('\n')) continue;
      const start = `${member.charAt(0).toUpperCase()}${member.slice(1)}`;
      let name = start;
      for (let number = 2; used.has(name); number += 1) name = `${start}${number}`;
      used.add(name);
      repeated.set(text, { name, schema });
    }
    return repeated;
  }

  operation(document: ApiDocument, operation: DocumentedOperation): string {
    const query = (operation.parameters ?? [])
      .filter(parameter => parameter.in === 'query')
      .map(({ name, required, schema }) =>
        memberOf(name, this.type(schema as Schema, inOperation, name), required === true),
      );
    const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1];
    const answer = success === undefined ? undefined : responseAt(document, success).content;
    const body = operation.requestBody?.content;
    const members = [
      ...(query.length === 0 ? [] : [`query: { ${query.join(' ')} };`]),
      ...(body === undefined ? [] : [`body: ${this.#content(body)};`]),
      ...(answer === undefined ? [] : [`answer: ${this.#content(answer)};`]),
    ];
    if (members.length === 0) return 'object';
    const line = `{ ${members.join(' ')} }`;
    if (line.length <= maxLineLength && !line.includes('\n')) return line;
    return `{\n${members.map(member => `${inOperation}${member}\n`).join('')}${indent}}`;
  }

  #content(content: DocumentedContent): string {
    const json = content['application/json'];
    if (json !== undefined) return this.type(json.schema as Schema, inOperation, 'body');
    if (content['multipart/form-data'] !== undefined) return 'FormData';
    return Object.keys(content).every(type => type.startsWith('image/')) ? 'Blob' : 'string';
  }

  /** @param member name of what has the type */
  type(schema: Schema, at: string, member: string): string {
    if (schema.$ref !== undefined) return nameOf(schema.$ref.slice(pathStart.length));
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum !== undefined) return schema.enum.map(value => JSON.stringify(value)).join(' | ');
    if (schema.anyOf !== undefined) return union(schema.anyOf.map(one => this.type(one, at, member)));
    const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
    return types.length === 0 ? 'unknown' : union(types.map(type => this.#named(type, schema, at, member)));
  }

  #named(type: string, schema: Schema, at: string, member: string): string {
    switch (type) {
      case 'integer':
      case 'number':
        return 'number';
      case 'array': {
        const item = schema.items === undefined ? 'unknown' : this.type(schema.items, at, member);
        return `readonly ${/[ |]/.test(item) && !item.startsWith('{') ? `(${item})` : item}[]`;
      }
      case 'object':
        return this.#object(schema, at, member);
      default:
        return type;
    }
  }

  #object(schema: Schema, at: string, member: string): string {
    // A schema has its name already.
    if (member === '') return this.#objectAt(schema, at);
    const text = new TypeWriter().type(schema, '', '');
    const shared = this.#shared.get(text);
    if (shared !== undefined) return shared.name;
    const written = this.#written.get(text);
    if (written === undefined) this.#written.set(text, { schema, member, count: 1 });
    else written.count += 1;
    return written === undefined ? this.#objectAt(schema, at) : text.replaceAll('\n', `\n${at}`);
  }

  #objectAt({ properties, required, additionalProperties }: Schema, at: string): string {
    const inside = `${at}${indent}`;
    if (properties === undefined) {
      const value =
        typeof additionalProperties === 'object' ? this.type(additionalProperties, at, 'value') : 'unknown';
      return `Readonly<Record<string, ${value}>>`;
    }
    const members = Object.entries(properties).map(([name, schema]) =>
      memberOf(name, this.type(schema, inside, name), required?.includes(name) === true),
    );
    const line = `{ ${members.join(' ')} }`;
    if (line.length <= maxLineLength && !line.includes('\n')) return line;
    return `{\n${members.map(one => `${inside}${one}\n`).join('')}${at}}`;
  }
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
