import * as z from 'zod';

export type JsonObject = { [key: string]: unknown };

const atomPattern = String.raw`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\+00:00$`;

/** U+0000 is refused everywhere. */
const noNullPattern = '^[^\\u0000]*$';

export class SchemaCollection {
  readonly named: Record<string, JsonObject> = {};

  add(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
    const { $schema, $defs, ...json } = z.toJSONSchema(schema, {
      io,
      reused: 'inline',
      override: ({ jsonSchema }) => describeForReaders(jsonSchema, io),
    }) as JsonObject;
    const pointed = pointToComponents({ json, $defs: $defs ?? {} }) as {
      json: JsonObject;
      $defs: Record<string, JsonObject>;
    };
    for (const [name, definition] of Object.entries(pointed.$defs)) this.#keep(name, definition);
    const { id } = pointed.json;
    if (typeof id !== 'string') return pointed.json;
    this.#keep(id, pointed.json);
    return { $ref: `#/components/schemas/${id}` };
  }

  #keep(name: string, { id, ...schema }: JsonObject): void {
    const known = this.named[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new Error(`two schemas are called ${name}`);
    }
    this.named[name] = schema;
  }
}

function describeForReaders(schema: z.core.JSONSchema.BaseSchema, io: 'input' | 'output'): void {
  // Zod's safe-integer limits mean nothing to a reader.
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (io === 'input' && isFreeText(schema)) schema.pattern = noNullPattern;
  if (schema.format !== 'date-time') return;
  if (io === 'output') schema.pattern = atomPattern;
  else delete schema.pattern;
}

function isFreeText({
  type,
  pattern,
  format,
  enum: values,
  const: value,
}: z.core.JSONSchema.BaseSchema): boolean {
  return type === 'string' && [pattern, format, values, value].every(one => one === undefined);
}

function pointToComponents(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(pointToComponents);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace('#/$defs/', '#/components/schemas/')
        : pointToComponents(inner),
    ]),
  );
}
