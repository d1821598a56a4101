export function u8(...values: number[]): Buffer {
  return Buffer.from(values);
}

/** Big-endian 16-bit fields. */
export function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  values.forEach((value, index) => {
    bytes.writeUInt16BE(value, index * 2);
  });
  return bytes;
}

/** Big-endian 32-bit fields, each 0..2^32-1. */
export function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => {
    bytes.writeUInt32BE(value, index * 4);
  });
  return bytes;
}

/** One byte per character. */
export function ascii(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

/** Writes a box. **Source**: ISO/IEC 14496-12:2022, 4.2. */
export function box(type: string, ...body: readonly Buffer[]): Buffer {
  const bytes = body.reduce((sum, part) => sum + part.length, 8);
  return Buffer.concat([u32(bytes), ascii(type), ...body], bytes);
}

/** Writes a box that starts with a version (0..255) and flags (24 bits). */
export function fullBox(type: string, version: number, flags: number, ...body: readonly Buffer[]): Buffer {
  return box(type, u32(version * 2 ** 24 + flags), ...body);
}
