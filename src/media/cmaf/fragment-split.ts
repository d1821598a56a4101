import { writeFragment } from './fragment-writer.ts';
import type { LocatedSample } from './movie-fragment.ts';

/** Gives both halves the same sequence number. @param count samples in the first, fewer than all */
export function splitFragment(
  fragment: Buffer,
  samples: readonly LocatedSample[],
  count: number,
): [Buffer, Buffer] {
  // Skips the headers of `moof` and `mfhd`, version and flags.
  const sequenceNumber = fragment.readUInt32BE(8 + 8 + 4);
  const write = (some: readonly LocatedSample[]) =>
    writeFragment(sequenceNumber, [
      {
        trackId: some[0]?.trackId ?? 0,
        baseDtsTicks: some[0]?.dtsTicks ?? 0,
        samples: some.map(({ position, sizeBytes, ...sample }) => ({
          ...sample,
          data: fragment.subarray(position, position + sizeBytes),
        })),
      },
    ]);
  return [write(samples.slice(0, count)), write(samples.slice(count))];
}
