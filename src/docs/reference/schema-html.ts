import type { JsonObject } from '../../http/openapi/openapi-schemas.ts';
import { escapeHtml, inlineHtml } from '../site/html.ts';

/** A JSON Schema of the API document, as far as a page shows it. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly additionalProperties?: boolean | Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly contentMediaType?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly deprecated?: boolean;
}

/** Schemas refer to others, and some to themselves. */
const maxDepth = 7;
/** Longer ones say less than the description. */
const maxPatternLength = 40;

export class SchemaPages {
  readonly #document: JsonObject;

  constructor(document: JsonObject) {
    this.#document = document;
  }

  /** Follows a reference of the document. */
  resolve<Value extends object>(value: Value | { readonly $ref: string }): Value {
    if (!('$ref' in value) || typeof value.$ref !== 'string') return value as Value;
    return value.$ref
      .slice('#/'.length)
      .split('/')
      .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((at, part) => (at as JsonObject)[part], this.#document) as Value;
  }

  /** Lists the fields of an object, or says what the value is. */
  fieldsHtml(of: object, depth = 0): string {
    const schema = this.#inner(of as Schema);
    const names = Object.entries(schema.properties ?? {});
    if (names.length === 0 || depth > maxDepth) return '';
    const items = names.map(([name, field]) => this.#fieldHtml(name, field, schema, depth));
    return `<ul class="fields">${items.join('\n')}</ul>`;
  }

  typeHtml(of: object): string {
    return `<span class="type">${inlineHtml(this.#typeOf(of as Schema))}</span>`;
  }

  /** Says what a value may be beyond its type. */
  limitsHtml(of: object): string {
    const schema = this.#valueOf(of as Schema);
    const { examples, deprecated } = schema;
    const given = (of as Schema).default ?? schema.default;
    const list = schema.type === 'array' ? this.#valueOf(schema.items ?? {}) : schema;
    const limits = [
      range(schema.minLength, schema.maxLength, 'characters'),
      range(schema.minItems, schema.maxItems, 'items'),
      range(schema.minimum, schema.maximum, ''),
      list.enum === undefined ? '' : `one of ${list.enum.map(value => `\`${String(value)}\``).join(', ')}`,
      schema.pattern === undefined ||
      schema.pattern.includes('\\u0000') ||
      schema.pattern.length > maxPatternLength
        ? ''
        : `pattern \`${schema.pattern}\``,
      given === undefined ? '' : `default \`${JSON.stringify(given)}\``,
      examples === undefined || examples.length === 0 || typeof examples[0] === 'object'
        ? ''
        : `for example \`${String(examples[0])}\``,
      deprecated === true ? 'deprecated' : '',
    ].filter(text => text !== '');
    return limits.length === 0 ? '' : `<span class="limits">${inlineHtml(limits.join('; '))}</span>`;
  }

  /** Makes a value of a schema: its example, or one with all required fields. */
  exampleOf(of: object, depth = 0): unknown {
    const schema = this.#valueOf(of as Schema);
    if (schema.examples?.[0] !== undefined) return schema.examples[0];
    if (schema.const !== undefined) return schema.const;
    if (schema.default !== undefined) return schema.default;
    if (schema.enum !== undefined) return schema.enum[0];
    if (depth > maxDepth) return null;
    switch (schema.type) {
      case 'object': {
        const fields = Object.entries(schema.properties ?? {}).filter(([name]) =>
          schema.required?.includes(name),
        );
        return Object.fromEntries(fields.map(([name, field]) => [name, this.exampleOf(field, depth + 1)]));
      }
      case 'array':
        return schema.items === undefined ? [] : [this.exampleOf(schema.items, depth + 1)];
      case 'boolean':
        return true;
      case 'integer':
      case 'number':
        return schema.minimum ?? 1;
      default:
        return schema.format === 'date-time' ? '2026-03-04T05:06:07+00:00' : 'string';
    }
  }

  #fieldHtml(name: string, field: Schema, { required = [] }: Schema, depth: number): string {
    const description = field.description ?? this.#valueOf(field).description;
    const nested = this.fieldsHtml(field, depth + 1);
    return `<li><code class="name">${escapeHtml(name)}</code> ${this.typeHtml(field)}${
      required.includes(name) ? ' <span class="required">required</span>' : ''
    } ${this.limitsHtml(field)}${description === undefined ? '' : `<p>${inlineHtml(description)}</p>`}${
      nested === ''
        ? ''
        : `<details><summary>Fields of <code>${escapeHtml(name)}</code></summary>${nested}</details>`
    }</li>`;
  }

  #typeOf(of: Schema): string {
    const schema = this.resolve(of);
    if (schema.anyOf !== undefined)
      return [...new Set(schema.anyOf.map(one => this.#typeOf(one)))].join(' or ');
    if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
    if (schema.contentMediaType !== undefined) return 'file';
    const named = of.$ref?.split('/').at(-1);
    if (Array.isArray(schema.type)) return schema.type.join(' or ');
    switch (schema.type) {
      case 'array':
        return schema.items === undefined ? 'array' : `array of ${this.#typeOf(schema.items)}`;
      case 'string':
        return (
          { 'date-time': 'date and time', uri: 'URL', email: 'email address' }[schema.format ?? ''] ??
          'string'
        );
      case 'object':
        if (typeof schema.additionalProperties === 'object' && schema.properties === undefined)
          return `map to ${this.#typeOf(schema.additionalProperties)}`;
        return named ?? 'object';
      default:
        return (schema.type as string | undefined) ?? named ?? 'any value';
    }
  }

  /** The schema of a value that is not null. */
  #valueOf(of: Schema): Schema {
    const schema = this.resolve(of);
    const [first, ...others] = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
    return first !== undefined && others.length === 0 ? this.resolve(first) : schema;
  }

  /** The schema whose fields a list of the value shows: that of its items, for an array. */
  #inner(of: Schema): Schema {
    const schema = this.#valueOf(of);
    if (schema.type === 'array' && schema.items !== undefined) return this.#inner(schema.items);
    if (schema.properties === undefined && typeof schema.additionalProperties === 'object')
      return this.#inner(schema.additionalProperties);
    return schema;
  }
}

function range(from: number | undefined, to: number | undefined, unit: string): string {
  const text = (number: number) => number.toLocaleString('en');
  const isUnbounded = to === undefined || to >= Number.MAX_SAFE_INTEGER;
  if (from === undefined && isUnbounded) return '';
  if (from === undefined || (from === 0 && unit !== ''))
    return isUnbounded ? '' : `at most ${text(to)} ${unit}`.trim();
  return isUnbounded
    ? `at least ${text(from)} ${unit}`.trim()
    : `${text(from)} to ${text(to)} ${unit}`.trim();
}
