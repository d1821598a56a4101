const modulus = 2 ** 31;

/** Sequence numbers of SRT have 31 bits and wrap. */
export function addSequence(sequence: number, count: number): number {
  return (sequence + count + modulus) % modulus;
}

/** The signed distance from `from` to `to`, the shorter way round. */
export function sequenceDistance(from: number, to: number): number {
  return ((to - from) << 1) >> 1;
}

/** The signed time from `fromUs` to `toUs`, the shorter way round 32 bits. */
export function timestampDistanceUs(fromUs: number, toUs: number): number {
  return (toUs - fromUs) | 0;
}
