export function u8(...values: number[]): Buffer {
  return Buffer.from(values);
}

export function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => {
    bytes.writeUInt16BE(value, index * 2);
  });
  return bytes;
}

/** Values are 0..2^32-1. */
export function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => {
    bytes.writeUInt32BE(value, index * 4);
  });
  return bytes;
}

export function ascii(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

export function box(type: string, ...body: readonly Buffer[]): Buffer {
  const bytes = body.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([u32(bytes), ascii(type), ...body], bytes);
}

/** A box with version 0..255 and 24 bits of flags. */
export function fullBox(type: string, version: number, flags: number, ...body: readonly Buffer[]): Buffer {
  return box(type, u32(version * 2 ** 24 + flags), ...body);
}
