/**
 * Splits a byte stream with start codes into NAL units, without the zeros around them. ITU-T H.264 (08/2021), annex B.
 *
 * @param maxUnits ignores those that follow
 */
export function splitAnnexB(bytes: Buffer, maxUnits = Infinity): Buffer[] {
  const units: Buffer[] = [];
  let start = -1;
  for (
    let at = bytes.indexOf(START_CODE);
    at !== -1 && units.length < maxUnits;
    at = bytes.indexOf(START_CODE, at + START_CODE.length)
  ) {
    if (start !== -1) addUnit(units, bytes, start, at);
    start = at + START_CODE.length;
  }
  if (start !== -1 && units.length < maxUnits) addUnit(units, bytes, start, bytes.length);
  return units;
}

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

const START_CODE = Buffer.from([0, 0, 1]);

function addUnit(units: Buffer[], bytes: Buffer, start: number, limit: number): void {
  let end = limit;
  while (end > start && bytes[end - 1] === 0) end -= 1;
  if (end > start) units.push(bytes.subarray(start, end));
}
