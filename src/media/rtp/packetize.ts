/** RFC 6184, 5.2. */
const STAP_A = 24;
const FU_A = 28;
const FRAGMENT_START = 0x80;
const FRAGMENT_END = 0x40;
const typeMask = 0x1f;
const NRI_MASK = 0x60;

/**
 * Writes the RTP payloads of one H.264 access unit: small units that follow each other share a payload, large ones are cut.
 * RFC 6184, 5.7.1 and 5.8, packetization mode 1.
 *
 * @param units not empty
 */
export function packetizeH264(units: readonly Buffer[], maxPayloadBytes: number): Buffer[] {
  const payloads: Buffer[] = [];
  let small: Buffer[] = [];
  let smallBytes = 1;
  const flush = () => {
    if (small.length === 1) payloads.push(small[0]!);
    else if (small.length > 1) payloads.push(aggregate(small, smallBytes));
    small = [];
    smallBytes = 1;
  };
  for (const unit of units) {
    if (unit.length > maxPayloadBytes) {
      flush();
      pushFragments(payloads, unit, maxPayloadBytes);
      continue;
    }
    if (smallBytes + 2 + unit.length > maxPayloadBytes) flush();
    small.push(unit);
    smallBytes += 2 + unit.length;
  }
  flush();
  return payloads;
}

function aggregate(units: readonly Buffer[], bytes: number): Buffer {
  const payload = Buffer.allocUnsafe(bytes);
  payload[0] = STAP_A | Math.max(...units.map(unit => unit[0]! & NRI_MASK));
  let at = 1;
  for (const unit of units) {
    at = payload.writeUInt16BE(unit.length, at);
    at += unit.copy(payload, at);
  }
  return payload;
}

function pushFragments(payloads: Buffer[], unit: Buffer, maxPayloadBytes: number): void {
  const header = unit[0]!;
  const indicator = (header & ~typeMask) | FU_A;
  const fragmentBytes = maxPayloadBytes - 2;
  for (let at = 1; at < unit.length; at += fragmentBytes) {
    const end = Math.min(unit.length, at + fragmentBytes);
    const payload = Buffer.allocUnsafe(2 + end - at);
    payload[0] = indicator;
    payload[1] =
      (header & typeMask) | (at === 1 ? FRAGMENT_START : 0) | (end === unit.length ? FRAGMENT_END : 0);
    unit.copy(payload, 2, at, end);
    payloads.push(payload);
  }
}
