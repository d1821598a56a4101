import { crc32 } from 'node:zlib';

/** Exif data that says nothing but how a picture is to be turned, 1 to 8. */
export function exifOf(orientation: number, order: 'little' | 'big' = 'little'): Buffer {
  const bytes = Buffer.alloc(26);
  const isLittle = order === 'little';
  const short = (value: number, at: number) =>
    isLittle ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at);
  const long = (value: number, at: number) =>
    isLittle ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at);
  bytes.write(isLittle ? 'II' : 'MM', 0, 'latin1');
  short(42, 2);
  long(8, 4);
  // One entry: tag, type SHORT, count, value.
  short(1, 8);
  short(0x0112, 10);
  short(3, 12);
  long(1, 14);
  short(orientation, 18);
  return bytes;
}

/** A JPEG, PNG or WebP with Exif data. */
export function withExif(image: Buffer, exif: Buffer, size: { width: number; height: number }): Buffer {
  if (image.readUInt16BE(0) === 0xffd8) {
    const body = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), exif]);
    const head = Buffer.from([0xff, 0xe1, 0, body.length + 2]);
    return Buffer.concat([image.subarray(0, 2), head, body, image.subarray(2)]);
  }
  if (image.toString('latin1', 1, 4) === 'PNG') {
    const body = Buffer.concat([Buffer.from('eXIf'), exif]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(exif.length);
    sum.writeUInt32BE(crc32(body));
    // Inserts it after the signature and IHDR.
    return Buffer.concat([image.subarray(0, 33), length, body, sum, image.subarray(33)]);
  }
  const extended = Buffer.alloc(18);
  extended.write('VP8X', 0, 'latin1');
  extended.writeUInt32LE(10, 4);
  extended[8] = 0x08;
  extended.writeUIntLE(size.width - 1, 12, 3);
  extended.writeUIntLE(size.height - 1, 15, 3);
  const head = Buffer.alloc(8);
  head.write('EXIF', 0, 'latin1');
  head.writeUInt32LE(exif.length, 4);
  const body = Buffer.concat([Buffer.from('WEBP'), extended, image.subarray(12), head, exif]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(body.length);
  return Buffer.concat([Buffer.from('RIFF'), length, body]);
}
