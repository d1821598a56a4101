import { type Box, FieldReader, malformed } from './box-reader.ts';

export interface Edit {
  /** Empty edits before the media, in the movie's timescale. */
  readonly emptyTicks: number;
  /** Start of the presentation, in the track's timescale. */
  readonly mediaTimeTicks: number;
  /** Duration in the movie's timescale; undefined up to the track's end. */
  readonly durationTicks: number | undefined;
}

export const NO_EDIT: Edit = { emptyTicks: 0, mediaTimeTicks: 0, durationTicks: undefined };

/** 16.16 fixed point. */
const NORMAL_RATE = 0x00010000;

const MAX_EMPTY_EDITS = 16;

/** ISO/IEC 14496-12:2022, 8.6.6. Undefined unless empty edits are followed by one part at normal speed. */
export function readEdit(bytes: Buffer, elst: Box): Edit | undefined {
  const fields = new FieldReader(bytes, elst);
  const version = fields.u8();
  fields.skip(3);
  const count = fields.u32();
  const entryBytes = version === 1 ? 20 : 12;
  if (count * entryBytes > fields.remaining) throw malformed('elst', `${count} edits do not fit`);
  let emptyTicks = 0;
  for (let index = 0; index < count; index++) {
    const durationTicks = version === 1 ? fields.u64() : fields.u32();
    const mediaTimeTicks = version === 1 ? signed64(fields) : fields.i32();
    const rate = fields.u32();
    if (mediaTimeTicks === -1) {
      emptyTicks += durationTicks;
      if (index >= MAX_EMPTY_EDITS) return undefined;
      continue;
    }
    if (index !== count - 1 || rate !== NORMAL_RATE || mediaTimeTicks < 0) return undefined;
    return { emptyTicks, mediaTimeTicks, durationTicks: durationTicks === 0 ? undefined : durationTicks };
  }
  return count === 0 ? NO_EDIT : undefined;
}

function signed64(fields: FieldReader): number {
  const value = fields.bytes(8).readBigInt64BE();
  if (value > BigInt(Number.MAX_SAFE_INTEGER) || value < -1n)
    throw malformed('elst', `time ${value} is out of range`);
  return Number(value);
}
