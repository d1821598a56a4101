/** ITU-T H.264 (08/2021), table 7-1. */
export const SEQUENCE_PARAMETER_SET = 7;
export const PICTURE_PARAMETER_SET = 8;

/** Puts a length of 4 bytes before each unit. ISO/IEC 14496-15:2022, 4.3.3. */
export function joinWithLengths(units: readonly Buffer[]): Buffer {
  const joined = Buffer.allocUnsafe(units.reduce((sum, { length }) => sum + 4 + length, 0));
  let at = 0;
  for (const unit of units) {
    at = joined.writeUInt32BE(unit.length, at);
    at += unit.copy(joined, at);
  }
  return joined;
}

/** Reads units that have their length before them, up to the first malformed one. ISO/IEC 14496-15:2022, 4.3.3. */
export function splitLengths(
  sample: Buffer,
  lengthBytes: number,
  maxUnits = Number.POSITIVE_INFINITY,
): Buffer[] {
  const units: Buffer[] = [];
  for (let at = 0, count = 0; count < maxUnits && at + lengthBytes < sample.length; count += 1) {
    const start = at + lengthBytes;
    const end = start + sample.readUIntBE(at, lengthBytes);
    if (end > sample.length) break;
    if (end > start) units.push(sample.subarray(start, end));
    at = end;
  }
  return units;
}

/** The parameter sets of an avcC record; undefined for a malformed one. ISO/IEC 14496-15:2022, 5.3.3.1. */
export function avcParameterSets(
  record: Buffer,
): { readonly units: readonly Buffer[]; readonly lengthBytes: number } | undefined {
  if (record.length < 7 || record[0] !== 1) return undefined;
  const units: Buffer[] = [];
  let at = 5;
  for (const mask of [0x1f, 0xff]) {
    const count = (record[at] ?? 0) & mask;
    at += 1;
    for (let index = 0; index < count; index++) {
      if (at + 2 > record.length) return undefined;
      const end = at + 2 + record.readUInt16BE(at);
      if (end > record.length || end === at + 2) return undefined;
      units.push(record.subarray(at + 2, end));
      at = end;
    }
  }
  return { units, lengthBytes: (record[4]! & 3) + 1 };
}
