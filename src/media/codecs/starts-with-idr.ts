import type { ReadAt } from '../cmaf/progressive-file.ts';

/** Covers the units before the first slice: access unit delimiter, parameter sets, the SEI of x264. */
const FIRST_READ_BYTES = 1024;
const MAX_UNITS = 32;

/** ITU-T H.264 (08/2021), table 7-1. */
const IDR_SLICE = 5;

/** True when later samples do not refer to earlier ones. @param lengthBytes of the field before each NAL unit */
export async function startsWithIdr(
  readAt: ReadAt,
  position: number,
  sizeBytes: number,
  lengthBytes: number,
): Promise<boolean> {
  let at = 0;
  let from = 0;
  let bytes = await readAt(position, Math.min(sizeBytes, FIRST_READ_BYTES));
  for (let units = 0; units < MAX_UNITS && at + lengthBytes < sizeBytes; units++) {
    if (at + lengthBytes >= from + bytes.length) {
      from = at;
      bytes = await readAt(position + at, lengthBytes + 1);
      if (bytes.length <= lengthBytes) return false;
    }
    const unitBytes = bytes.readUIntBE(at - from, lengthBytes);
    if (unitBytes === 0 || unitBytes > sizeBytes - at - lengthBytes) return false;
    const type = bytes.readUInt8(at - from + lengthBytes) & 0x1f;
    if (type >= 1 && type <= IDR_SLICE) return type === IDR_SLICE;
    at += lengthBytes + unitBytes;
  }
  return false;
}
