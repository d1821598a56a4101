/** ISO/IEC 13818-1:2019, 2.4.3.2. */
export interface TsPacket {
  readonly pid: number;
  /** A PES packet or, after a pointer, a section begins in this packet. */
  readonly isStart: boolean;
  readonly isScrambled: boolean;
  /** The continuity counter may jump here. */
  readonly isDiscontinuity: boolean;
  readonly counter: number;
  /** The payload is shorter than it could be, as at the end of a PES packet. */
  readonly isPadded: boolean;
  /** Undefined in packets that only have an adaptation field. */
  readonly payload: Buffer | undefined;
}

export const PACKET_BYTES = 188;
export const SYNC_BYTE = 0x47;

/** Undefined when the packet is marked as damaged or its fields do not fit. */
export function readTsPacket(bytes: Buffer, at: number): TsPacket | undefined {
  const second = bytes[at + 1]!;
  const fourth = bytes[at + 3]!;
  if ((second & 0x80) !== 0) return undefined;
  const hasAdaptation = (fourth & 0x20) !== 0;
  const adaptationBytes = hasAdaptation ? 1 + bytes[at + 4]! : 0;
  const payloadAt = 4 + adaptationBytes;
  if (payloadAt > PACKET_BYTES) return undefined;
  const hasPayload = (fourth & 0x10) !== 0 && payloadAt < PACKET_BYTES;
  return {
    pid: ((second & 0x1f) << 8) | bytes[at + 2]!,
    isStart: (second & 0x40) !== 0,
    isScrambled: (fourth & 0xc0) !== 0,
    isDiscontinuity: adaptationBytes > 1 && (bytes[at + 5]! & 0x80) !== 0,
    counter: fourth & 0x0f,
    isPadded: hasAdaptation && isPadded(bytes.subarray(at + 4, at + payloadAt)),
    payload: hasPayload ? bytes.subarray(at + payloadAt, at + PACKET_BYTES) : undefined,
  };
}

/** @param field an adaptation field. ISO/IEC 13818-1:2019, 2.4.3.4. */
function isPadded(field: Buffer): boolean {
  const flags = field[1] ?? 0;
  if (flags === 0) return true;
  let used = 2 + ((flags & 0x10) === 0 ? 0 : 6) + ((flags & 0x08) === 0 ? 0 : 6) + ((flags & 0x04) >> 2);
  for (const extension of [0x02, 0x01]) if ((flags & extension) !== 0) used += 1 + (field[used] ?? 0);
  return used < field.length;
}

/** Program clock reference of a packet, at 90 kHz. ISO/IEC 13818-1:2019, 2.4.3.5. */
export function readClockTicks(bytes: Buffer, at: number): number | undefined {
  const hasAdaptation = (bytes[at + 3]! & 0x20) !== 0;
  if (!hasAdaptation || bytes[at + 4]! < 7 || (bytes[at + 5]! & 0x10) === 0) return undefined;
  return bytes.readUInt32BE(at + 6) * 2 + (bytes[at + 10]! >> 7);
}
