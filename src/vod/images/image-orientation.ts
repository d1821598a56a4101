const ORIENTATION_TAG = 0x0112;
const TYPE_SHORT = 3;
const MAX_PARTS = 4096;

const rotationFilters: Readonly<Record<number, readonly string[]>> = {
  2: ['hflip'],
  3: ['hflip', 'vflip'],
  4: ['vflip'],
  5: ['transpose=cclock_flip'],
  6: ['transpose=clock'],
  7: ['transpose=clock_flip'],
  8: ['transpose=cclock'],
};

/** Rotates as browsers do. ffmpeg supports only JPEG, and only in later builds. */
export function uprightFilters(image: Buffer): readonly string[] {
  return rotationFilters[orientationOf(image)] ?? [];
}

/**
 * Reads the Exif orientation (1 to 8), 1 if missing or invalid. **Source**: CIPA DC-008 (Exif 3.0) 4.6.5.1.6
 * and 4.7.2, PNG third edition 11.3.4.3, RFC 9649 2.7.1.5
 */
export function orientationOf(image: Buffer): number {
  const exif = exifOfJpeg(image) ?? exifOfPng(image) ?? exifOfWebp(image);
  const orientation = exif === undefined ? undefined : orientationIn(exif);
  return orientation !== undefined && orientation >= 1 && orientation <= 8 ? orientation : 1;
}

function exifOfJpeg(bytes: Buffer): Buffer | undefined {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return undefined;
  let position = 2;
  for (let part = 0; part < MAX_PARTS; part++) {
    if (position + 4 > bytes.length || bytes[position] !== 0xff) break;
    const marker = bytes[position + 1]!;
    if (marker === 0xff) {
      position += 1;
      continue;
    }
    const end = position + 2 + bytes.readUInt16BE(position + 2);
    // Stops at the scan: all metadata comes before.
    if (marker === 0xda || end < position + 4) return undefined;
    const body = bytes.subarray(position + 4, end);
    if (marker === 0xe1 && body.toString('latin1', 0, 6) === 'Exif\0\0') return body.subarray(6);
    position = end;
  }
  return undefined;
}

function exifOfPng(bytes: Buffer): Buffer | undefined {
  if (bytes.toString('latin1', 1, 4) !== 'PNG') return undefined;
  let position = 8;
  for (let part = 0; part < MAX_PARTS && position + 8 <= bytes.length; part++) {
    const length = bytes.readUInt32BE(position);
    const body = position + 8;
    if (bytes.toString('latin1', position + 4, body) === 'eXIf') return bytes.subarray(body, body + length);
    position = body + length + 4;
  }
  return undefined;
}

function exifOfWebp(bytes: Buffer): Buffer | undefined {
  if (bytes.toString('latin1', 8, 12) !== 'WEBP') return undefined;
  let position = 12;
  for (let part = 0; part < MAX_PARTS && position + 8 <= bytes.length; part++) {
    const length = bytes.readUInt32LE(position + 4);
    const body = position + 8;
    if (bytes.toString('latin1', position, position + 4) === 'EXIF') {
      const exif = bytes.subarray(body, body + length);
      // Some programs also write the header of the JPEG segment.
      return exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif;
    }
    position = body + length + (length % 2);
  }
  return undefined;
}

function orientationIn(exif: Buffer): number | undefined {
  const order = exif.toString('latin1', 0, 4);
  if (order !== 'II*\0' && order !== 'MM\0*') return undefined;
  const isLittle = order === 'II*\0';
  const isInside = (position: number, length: number) => position + length <= exif.length;
  const short = (position: number) => (isLittle ? exif.readUInt16LE(position) : exif.readUInt16BE(position));
  if (!isInside(4, 4)) return undefined;
  const directory = isLittle ? exif.readUInt32LE(4) : exif.readUInt32BE(4);
  if (!isInside(directory, 2)) return undefined;
  const entries = short(directory);
  for (let index = 0; index < entries; index += 1) {
    const entry = directory + 2 + 12 * index;
    if (!isInside(entry, 12)) return undefined;
    if (short(entry) === ORIENTATION_TAG) {
      return short(entry + 2) === TYPE_SHORT ? short(entry + 8) : undefined;
    }
  }
  return undefined;
}
