/** A value of AMF0 as tests write it: arrays are strict arrays, Maps are ECMA arrays. */
export type AmfValue =
  | number
  | boolean
  | string
  | null
  | undefined
  | readonly AmfValue[]
  | ReadonlyMap<string, AmfValue>
  | { readonly [name: string]: AmfValue };

/** Encodes the values one after the other. */
export function encodeAmf0(...values: AmfValue[]): Buffer {
  return Buffer.concat(values.map(encodeOne));
}

function encodeOne(value: AmfValue): Buffer {
  if (value === null) return Buffer.from([0x05]);
  if (value === undefined) return Buffer.from([0x06]);
  if (typeof value === 'boolean') return Buffer.from([0x01, value ? 1 : 0]);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(9);
    bytes.writeDoubleBE(value, 1);
    return bytes;
  }
  if (typeof value === 'string') return Buffer.concat([Buffer.from([0x02]), encodeName(value)]);
  if (value instanceof Map) {
    const head = Buffer.from([0x08, 0, 0, 0, 0]);
    head.writeUInt32BE(value.size, 1);
    return Buffer.concat([head, encodeFields([...value])]);
  }
  if (Array.isArray(value)) {
    const head = Buffer.from([0x0a, 0, 0, 0, 0]);
    head.writeUInt32BE(value.length, 1);
    return Buffer.concat([head, ...value.map(encodeOne)]);
  }
  return Buffer.concat([Buffer.from([0x03]), encodeFields(Object.entries(value))]);
}

function encodeFields(fields: readonly (readonly [string, AmfValue])[]): Buffer {
  const encoded = fields.flatMap(([name, value]) => [encodeName(name), encodeOne(value)]);
  return Buffer.concat([...encoded, Buffer.from([0, 0, 9])]);
}

function encodeName(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  const head = Buffer.alloc(2);
  head.writeUInt16BE(bytes.length);
  return Buffer.concat([head, bytes]);
}

/** Decodes all values. Both kinds of objects come as plain objects. @throws on a type it does not know */
export function decodeAmf0(bytes: Buffer): unknown[] {
  const values: unknown[] = [];
  let offset = 0;

  const readName = (): string => {
    const start = offset + 2;
    offset = start + bytes.readUInt16BE(offset);
    return bytes.toString('utf8', start, offset);
  };
  const readFields = (): Record<string, unknown> => {
    const object: Record<string, unknown> = {};
    for (;;) {
      const name = readName();
      if (name === '' && bytes[offset] === 0x09) {
        offset += 1;
        return object;
      }
      object[name] = readOne();
    }
  };
  const readOne = (): unknown => {
    const type = bytes[offset++];
    switch (type) {
      case 0x00:
        offset += 8;
        return bytes.readDoubleBE(offset - 8);
      case 0x01:
        return bytes[offset++] !== 0;
      case 0x02:
        return readName();
      case 0x03:
        return readFields();
      case 0x05:
        return null;
      case 0x06:
        return undefined;
      case 0x08:
        offset += 4;
        return readFields();
      case 0x0a: {
        offset += 4;
        return Array.from({ length: bytes.readUInt32BE(offset - 4) }, readOne);
      }
      default:
        throw new Error(`AMF0 type ${type} at ${offset - 1}`);
    }
  };

  while (offset < bytes.length) values.push(readOne());
  return values;
}
