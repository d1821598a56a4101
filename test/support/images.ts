import { crc32, deflateSync } from 'node:zlib';

/** A grey PNG; `says` puts another size into its header than it has. */
export function pngImage(
  width = 1,
  height = 1,
  says: { readonly width: number; readonly height: number } = { width, height },
): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
  header.writeUInt32BE(says.width, 0);
  header.writeUInt32BE(says.height, 4);
  // A line begins with its filter: none.
  const line = Buffer.concat([Buffer.alloc(1), Buffer.alloc(width, 128)]);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.concat(Array.from({ length: height }, () => line)))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The beginning of a JPEG, as far as its size. */
export const jpegImage: Buffer = Buffer.from('ffd8ffe000044a46ffc0000b080102030401011100ffd9', 'hex');

/** The beginning of a lossless WebP of 640 x 360 pixels. */
export const webpImage: Buffer = Buffer.concat([
  Buffer.from('RIFF'),
  Buffer.from([32, 0, 0, 0]),
  Buffer.from('WEBPVP8L'),
  Buffer.from([20, 0, 0, 0]),
  Buffer.from('2f7fc25900', 'hex'),
  Buffer.alloc(15),
]);

/** A multipart body: parts with a file name are files. */
export function formWith(...parts: [field: string, bytes: Buffer, fileName?: string][]): FormData {
  const data = new FormData();
  for (const [field, bytes, fileName] of parts) {
    if (fileName === undefined) data.append(field, bytes.toString());
    else data.append(field, new Blob([new Uint8Array(bytes)]), fileName);
  }
  return data;
}

function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const named = Buffer.concat([Buffer.from(type), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}
