import * as z from 'zod';

interface QueryEntry {
  readonly name: string;
  /** `''` for `[]`. */
  readonly keys: readonly string[];
  readonly value: string;
}

/** Decodes percent-encoding, also of brackets, and `+` as a space. */
export function parseQuery(text: string): QueryEntry[] {
  if (text === '') return [];
  const entries: QueryEntry[] = [];
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const path = decode(equals < 0 ? pair : pair.slice(0, equals));
    entries.push({ ...splitPath(path), value: equals < 0 ? '' : decode(pair.slice(equals + 1)) });
  }
  return entries;
}

function splitPath(path: string): { name: string; keys: string[] } {
  const bracket = path.indexOf('[');
  if (bracket <= 0 || !path.endsWith(']')) return { name: path, keys: [] };
  return { name: path.slice(0, bracket), keys: path.slice(bracket + 1, -1).split('][') };
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

/** Leaves invalid values for the schema to refuse. */
type Reader = (entries: readonly QueryEntry[], field: z.core.$ZodType) => unknown;

const readers: Readonly<Record<string, Reader>> = {
  number: entries => {
    const text = lastScalar(entries);
    return typeof text === 'string' && /^-?\d{1,15}$/.test(text) ? Number(text) : text;
  },
  boolean: entries => {
    const text = lastScalar(entries);
    return text === 'true' ? true : text === 'false' ? false : text;
  },
  // `tags[]=a`, `tags[0]=a`, `tags[][0]=a` and `tags=a` are all one list.
  array: entries => entries.map(entry => entry.value),
  map: entries => {
    if (entries.some(entry => entry.keys.length !== 1)) return entries.at(-1)?.value;
    const groups = Map.groupBy(entries, entry => entry.keys[0] ?? '');
    return new Map([...groups].map(([key, group]) => [key, group.map(entry => entry.value)]));
  },
  // `filterBy[browser][0]=a`, `filterBy[browser][]=a` and `filterBy[browser]=a`, each field by its own type.
  object: (entries, field) => {
    if (entries.some(entry => entry.keys.length === 0)) return entries.at(-1)?.value;
    const { shape } = unwrapSchema(field) as z.ZodObject;
    const groups = Object.groupBy(entries, entry => entry.keys[0] ?? '');
    return Object.fromEntries(
      Object.entries(groups).map(([name, inner = []]) => {
        const innerField = Object.hasOwn(shape, name) ? shape[name] : undefined;
        const read =
          (innerField === undefined ? undefined : readers[baseTypeOf(innerField)]) ?? readers.text!;
        const unnamed = inner.map(({ keys, value }) => ({ name, keys: keys.slice(1), value }));
        return [name, read(unnamed, innerField ?? field)];
      }),
    );
  },
  text: entries => lastScalar(entries),
};

function lastScalar(entries: readonly QueryEntry[]): unknown {
  const last = entries.at(-1);
  return last?.keys.length === 0 ? last.value : [last?.value];
}

/** Accepts `name[key]=value` pairs with any keys, which may repeat; groups the values of a key. */
export function queryPairs(maxPairs: number) {
  const hasAllowedSize = z.refine<Map<string, string[]>>(
    pairs => [...pairs.values()].flat().length <= maxPairs,
    `This collection should contain ${maxPairs} elements or less.`,
  );
  // JSON Schema has no maps.
  const schema = new z.ZodMap({
    type: 'map',
    keyType: z.string(),
    valueType: z.array(z.string()),
    checks: [hasAllowedSize],
  }) as z.ZodMap<z.ZodString, z.ZodArray<z.ZodString>>;
  schema._zod.toJSONSchema = () => ({ type: 'object', additionalProperties: { type: 'string' } });
  return schema;
}

/**
 * Parses queries by the type of each field: numbers, booleans, lists (`tags[]=a`), maps (`metadata[k]=v`) and
 * objects (`filterBy[k][]=v`). The last value of a repeated scalar counts. Keeps unknown names for the schema
 * to refuse.
 */
export function queryReader(schema: z.ZodObject): (text: string) => Record<string, unknown> {
  const readerOf = new Map(
    Object.entries(schema.shape).map(([name, field]) => {
      const reader = readers[baseTypeOf(field)] ?? readers.text!;
      return [name, (entries: readonly QueryEntry[]) => reader(entries, field)];
    }),
  );
  return text => {
    if (text === '') return {};
    const groups = Object.groupBy(parseQuery(text), entry => entry.name);
    // `fromEntries` defines own properties, so `__proto__` is just another unknown name.
    return Object.fromEntries(
      Object.entries(groups).map(([name, entries = []]) => [
        name,
        readerOf.get(name)?.(entries) ?? lastScalar(entries),
      ]),
    );
  };
}

function baseTypeOf(schema: z.core.$ZodType): string {
  return unwrapSchema(schema)._zod.def.type;
}

export function unwrapSchema(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  while ('innerType' in inner._zod.def) inner = inner._zod.def.innerType as z.core.$ZodType;
  return inner;
}
