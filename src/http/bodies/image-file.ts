import { crc32 } from 'node:zlib';

export type ImageType = 'image/jpeg' | 'image/png' | 'image/webp';

/** Segments and fill bytes before the size of a JPEG. Cameras write a few dozen. */
const MAX_JPEG_STEPS = 4096;

export interface ImageInfo {
  readonly type: ImageType;
  readonly width: number;
  readonly height: number;
}

/** **Source**: ITU-T T.81 B.1 (JPEG), PNG third edition 5.2 and 11.2.1, RFC 9649 2 (WebP) */
export function readImageInfo(bytes: Buffer): ImageInfo | 'damaged' | undefined {
  if (bytes.length >= 3 && bytes.readUIntBE(0, 3) === 0xffd8ff) return readJpeg(bytes);
  if (bytes.subarray(0, 8).equals(pngSignature)) return readPng(bytes);
  if (bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP')
    return readWebp(bytes);
  return undefined;
}

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

function imageInfo(type: ImageType, width: number, height: number): ImageInfo | 'damaged' {
  return width > 0 && height > 0 ? { type, width, height } : 'damaged';
}

function readJpeg(bytes: Buffer): ImageInfo | 'damaged' {
  let position = 2;
  for (let step = 0; step < MAX_JPEG_STEPS; step++) {
    if (position + 4 > bytes.length || bytes[position] !== 0xff) return 'damaged';
    const marker = bytes[position + 1]!;
    if (marker === 0xff) {
      position += 1;
      continue;
    }
    const length = bytes.readUInt16BE(position + 2);
    // SOF0..SOF15 without DHT (C4), JPG (C8) and DAC (CC).
    const isFrameHeader =
      marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrameHeader) {
      if (length < 8 || position + 2 + length > bytes.length) return 'damaged';
      return imageInfo('image/jpeg', bytes.readUInt16BE(position + 7), bytes.readUInt16BE(position + 5));
    }
    // A scan before any frame header.
    if (marker === 0xda || length < 2) return 'damaged';
    position += 2 + length;
  }
  return 'damaged';
}

function readPng(bytes: Buffer): ImageInfo | 'damaged' {
  // Signature, IHDR of 25 bytes, and at least an IEND of 12.
  if (bytes.length < 45 || bytes.readUInt32BE(8) !== 13 || bytes.toString('latin1', 12, 16) !== 'IHDR')
    return 'damaged';
  if (crc32(bytes.subarray(12, 29)) !== bytes.readUInt32BE(29)) return 'damaged';
  return imageInfo('image/png', bytes.readUInt32BE(16), bytes.readUInt32BE(20));
}

function readWebp(bytes: Buffer): ImageInfo | 'damaged' {
  if (bytes.length < 30 || bytes.readUInt32LE(4) + 8 > bytes.length) return 'damaged';
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      if (bytes.readUIntBE(23, 3) !== 0x9d012a) return 'damaged';
      return imageInfo('image/webp', bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff);
    case 'VP8L': {
      if (bytes[20] !== 0x2f) return 'damaged';
      const packed = bytes.readUInt32LE(21);
      return imageInfo('image/webp', (packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1);
    }
    case 'VP8X':
      return imageInfo('image/webp', bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1);
    default:
      return 'damaged';
  }
}
