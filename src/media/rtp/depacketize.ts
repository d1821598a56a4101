/** The RTP payloads of a codec that is made of NAL units. */
interface UnitFormat {
  readonly headerBytes: number;
  readonly aggregate: number;
  readonly fragment: number;
  /** Highest type of a single unit. */
  readonly maxSingle: number;
  typeOf(payload: Buffer): number;
  /** Header of the unit that a fragment belongs to. */
  rebuildHeader(payload: Buffer, type: number): Buffer;
  readonly fragmentTypeMask: number;
}

/** RFC 6184, 5.2. */
const h264: UnitFormat = {
  headerBytes: 1,
  aggregate: 24,
  fragment: 28,
  maxSingle: 23,
  typeOf: payload => payload[0]! & 0x1f,
  rebuildHeader: (payload, type) => Buffer.from([(payload[0]! & 0xe0) | type]),
  fragmentTypeMask: 0x1f,
};

/** RFC 7798, 4.4, without decoding order numbers, which are not negotiated. */
const hevc: UnitFormat = {
  headerBytes: 2,
  aggregate: 48,
  fragment: 49,
  maxSingle: 47,
  typeOf: payload => (payload[0]! >> 1) & 0x3f,
  rebuildHeader: (payload, type) => Buffer.from([(payload[0]! & 0x81) | (type << 1), payload[1]!]),
  fragmentTypeMask: 0x3f,
};

const FRAGMENT_START = 0x80;
const FRAGMENT_END = 0x40;
/** Maximum units of one frame; encoders write a few. */
const maxUnits = 4_096;

/**
 * Reads the NAL units of an access unit; undefined for malformed ones.
 *
 * @param payloads in order, all of one timestamp, none missing
 */
export function unitsOf(codec: 'avc1' | 'hvc1', payloads: readonly Buffer[]): Buffer[] | undefined {
  const format = codec === 'avc1' ? h264 : hevc;
  const units: Buffer[] = [];
  let fragments: Buffer[] = [];
  for (const payload of payloads) {
    if (payload.length === 0) continue;
    if (payload.length <= format.headerBytes || units.length > maxUnits) return undefined;
    const type = format.typeOf(payload);
    if (type === format.fragment) {
      const header = payload[format.headerBytes]!;
      const isStart = (header & FRAGMENT_START) !== 0;
      if (isStart !== (fragments.length === 0)) return undefined;
      if (isStart) fragments.push(format.rebuildHeader(payload, header & format.fragmentTypeMask));
      fragments.push(payload.subarray(format.headerBytes + 1));
      if ((header & FRAGMENT_END) === 0) continue;
      units.push(Buffer.concat(fragments));
      fragments = [];
      continue;
    }
    if (fragments.length > 0) return undefined;
    if (type === format.aggregate) {
      if (!splitAggregate(payload.subarray(format.headerBytes), units)) return undefined;
    } else if (type <= format.maxSingle) units.push(payload);
    else return undefined;
  }
  return fragments.length > 0 ? undefined : units;
}

function splitAggregate(bytes: Buffer, units: Buffer[]): boolean {
  for (let at = 0; at < bytes.length; ) {
    if (at + 2 > bytes.length) return false;
    const end = at + 2 + bytes.readUInt16BE(at);
    if (end > bytes.length) return false;
    if (end > at + 2) units.push(bytes.subarray(at + 2, end));
    at = end;
  }
  return true;
}
