import { malformedRtmp } from './chunk-reader.ts';

/** Maps are written as ECMA arrays, arrays as strict arrays. */
export type AmfValue =
  | number
  | boolean
  | string
  | null
  | readonly string[]
  | ReadonlyMap<string, number | boolean | string>
  | { readonly [name: string]: AmfValue };

/** AMF 0, 2.1. */
const MARKER = {
  number: 0,
  boolean: 1,
  string: 2,
  object: 3,
  null: 5,
  undefined: 6,
  ecmaArray: 8,
  objectEnd: 9,
  strictArray: 10,
  date: 11,
  longString: 12,
  unsupported: 13,
  typedObject: 16,
} as const;

const maxDepth = 8;
/** Properties and elements included. */
const maxValues = 500;

export function encodeAmf0(...values: readonly AmfValue[]): Buffer {
  return Buffer.concat(values.map(encodeOne));
}

function encodeOne(value: AmfValue): Buffer {
  if (value === null) return Buffer.from([MARKER.null]);
  if (typeof value === 'boolean') return Buffer.from([MARKER.boolean, value ? 1 : 0]);
  if (typeof value === 'string') return Buffer.concat([Buffer.from([MARKER.string]), encodeText(value)]);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9);
    bytes.writeDoubleBE(value, 1);
    return bytes;
  }
  if (Array.isArray(value))
    return Buffer.concat([encodeCount(MARKER.strictArray, value.length), ...value.map(encodeOne)]);
  const fields = value instanceof Map ? [...value] : Object.entries(value);
  const head =
    value instanceof Map ? encodeCount(MARKER.ecmaArray, value.size) : Buffer.from([MARKER.object]);
  const encoded = fields.flatMap(([name, field]) => [encodeText(name), encodeOne(field)]);
  return Buffer.concat([head, ...encoded, Buffer.from([0, 0, MARKER.objectEnd])]);
}

function encodeText(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(2);
  head.writeUInt16BE(bytes.length);
  return Buffer.concat([head, bytes]);
}

function encodeCount(marker: number, count: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes[0] = marker;
  bytes.writeUInt32BE(count, 1);
  return bytes;
}

/** Objects and ECMA arrays become maps. Reading ends where the bytes are malformed. */
export function decodeAmf0(bytes: Buffer): unknown[] {
  const values: unknown[] = [];
  const reader = new AmfReader(bytes);
  try {
    while (reader.hasMore) values.push(reader.value(0));
  } catch {
    // Values that servers append in unknown types are not needed.
  }
  return values;
}

class AmfReader {
  readonly #bytes: Buffer;
  #offset = 0;
  #values = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get hasMore(): boolean {
    return this.#offset < this.#bytes.length;
  }

  value(depth: number): unknown {
    this.#values += 1;
    if (depth > maxDepth || this.#values > maxValues) throw malformedRtmp('AMF values beyond the limit');
    const marker = this.#take(1)[0]!;
    switch (marker) {
      case MARKER.number:
        return this.#take(8).readDoubleBE(0);
      case MARKER.boolean:
        return this.#take(1)[0] !== 0;
      case MARKER.string:
        return this.#text(2);
      case MARKER.longString:
        return this.#text(4);
      case MARKER.null:
        return null;
      case MARKER.undefined:
      case MARKER.unsupported:
        return undefined;
      case MARKER.date:
        return this.#take(10).readDoubleBE(0);
      case MARKER.typedObject:
        this.#text(2);
        return this.#fields(depth);
      case MARKER.ecmaArray:
        this.#take(4);
        return this.#fields(depth);
      case MARKER.object:
        return this.#fields(depth);
      case MARKER.strictArray:
        return this.#elements(this.#take(4).readUInt32BE(0), depth);
      default:
        throw malformedRtmp(`AMF type ${marker}`);
    }
  }

  #fields(depth: number): Map<string, unknown> {
    const fields = new Map<string, unknown>();
    for (;;) {
      const name = this.#text(2);
      if (name === '' && this.#bytes[this.#offset] === MARKER.objectEnd) {
        this.#offset += 1;
        return fields;
      }
      fields.set(name, this.value(depth + 1));
    }
  }

  #elements(count: number, depth: number): unknown[] {
    const elements: unknown[] = [];
    // Elements take a byte each, so the input ends a false count.
    for (let left = count; left > 0; left -= 1) elements.push(this.value(depth + 1));
    return elements;
  }

  #text(lengthBytes: 2 | 4): string {
    return this.#take(this.#take(lengthBytes).readUIntBE(0, lengthBytes)).toString();
  }

  #take(count: number): Buffer {
    const end = this.#offset + count;
    if (end > this.#bytes.length) throw malformedRtmp('a truncated AMF value');
    const taken = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return taken;
  }
}
