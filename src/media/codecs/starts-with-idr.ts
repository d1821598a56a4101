import type { ReadAt } from '../cmaf/progressive-file.ts';
import { SEQUENCE_PARAMETER_SET } from './nal-units.ts';

/** Covers the units before the first slice: access unit delimiter, parameter sets, the SEI of x264. */
const FIRST_READ_BYTES = 1024;
const MAX_UNITS = 32;

const MAX_SEQUENCE_BYTES = 4096;

/** ITU-T H.264 (08/2021), table 7-1. */
const IDR_SLICE = 5;

/** True when later samples do not refer to earlier ones. @param lengthBytes of the field before each NAL unit */
export async function startsWithIdr(...sample: Parameters<typeof readSampleStart>): Promise<boolean> {
  return (await readSampleStart(...sample)).isIdr;
}

interface SampleStart {
  readonly isIdr: boolean;
  /** Sequence parameter sets, with their header byte. */
  readonly sequences: readonly Buffer[];
}

/** Reads the units of an H.264 sample up to its first slice. @param lengthBytes of the field before each NAL unit */
export async function readSampleStart(
  readAt: ReadAt,
  position: number,
  sizeBytes: number,
  lengthBytes: number,
): Promise<SampleStart> {
  const sequences: Buffer[] = [];
  let at = 0;
  let from = 0;
  let bytes = await readAt(position, Math.min(sizeBytes, FIRST_READ_BYTES));
  for (let units = 0; units < MAX_UNITS && at + lengthBytes < sizeBytes; units++) {
    if (at + lengthBytes >= from + bytes.length) {
      from = at;
      bytes = await readAt(position + at, lengthBytes + 1);
      if (bytes.length <= lengthBytes) break;
    }
    const unitBytes = bytes.readUIntBE(at - from, lengthBytes);
    if (unitBytes === 0 || unitBytes > sizeBytes - at - lengthBytes) break;
    const type = bytes.readUInt8(at - from + lengthBytes) & 0x1f;
    if (type >= 1 && type <= IDR_SLICE) return { isIdr: type === IDR_SLICE, sequences };
    if (type === SEQUENCE_PARAMETER_SET && unitBytes <= MAX_SEQUENCE_BYTES) {
      const start = at - from + lengthBytes;
      const isRead = start + unitBytes <= bytes.length;
      sequences.push(
        isRead
          ? bytes.subarray(start, start + unitBytes)
          : await readAt(position + at + lengthBytes, unitBytes),
      );
    }
    at += lengthBytes + unitBytes;
  }
  return { isIdr: false, sequences };
}
