/** RFC 3550, 6.4.1. */
export interface SenderReport {
  readonly ssrc: number;
  /** Time of the sender's clock, since 1900; the same for all of its tracks. */
  readonly ntpMs: number;
  /** The middle 32 bits of the NTP time, which receiver reports repeat. */
  readonly ntpMiddle: number;
  readonly rtpTimestamp: number;
}

/** RFC 3550, 6.4.2. */
export interface ReceptionReport {
  readonly ssrc: number;
  /** Share lost since the last report, 0..1. */
  readonly fractionLost: number;
  readonly packetsLost: number;
  /** Highest sequence number, extended by its wraps. */
  readonly highestSequenceNumber: number;
  /** Jitter in units of the RTP clock. */
  readonly jitter: number;
  /** Undefined before the first sender report. */
  readonly lastReport: { readonly ntpMiddle: number; readonly delayMs: number } | undefined;
}

const PACKET = {
  senderReport: 200,
  receiverReport: 201,
  sourceDescription: 202,
  transport: 205,
  payload: 206,
} as const;
const CANONICAL_NAME = 1;
const GENERIC_NACK = 1;
const PICTURE_LOSS = 1;
const TRANSPORT_WIDE = 15;

/** Reads the sender reports of a compound packet, up to the first malformed packet. */
export function readSenderReports(compound: Buffer): SenderReport[] {
  const reports: SenderReport[] = [];
  for (const { type, body } of packetsOf(compound)) {
    if (type === PACKET.senderReport && body.length >= 24) reports.push(readSenderReport(body));
  }
  return reports;
}

/** A report of the receiver, as the sender of the media reads it. */
interface ReceptionSummary {
  readonly mediaSsrc: number;
  /** Total since the start of the track; negative with duplicates. */
  readonly packetsLost: number;
  /** The newest sender report that came, and how long ago; undefined before the first. */
  readonly lastReport: { readonly ntpMiddle: number; readonly delayMs: number } | undefined;
}

/** Reads what the receiver reports of the media. RFC 3550, 6.4. */
export function readReceptionReports(compound: Buffer): ReceptionSummary[] {
  const reports: ReceptionSummary[] = [];
  for (const { type, count, body } of packetsOf(compound)) {
    if (type !== PACKET.senderReport && type !== PACKET.receiverReport) continue;
    const from = type === PACKET.senderReport ? 24 : 4;
    for (let at = from; at + 24 <= body.length && at < from + count * 24; at += 24) {
      const ntpMiddle = body.readUInt32BE(at + 16);
      const delayMs = body.readUInt32BE(at + 20) / 65.536;
      reports.push({
        mediaSsrc: body.readUInt32BE(at),
        packetsLost: body.readIntBE(at + 5, 3),
        lastReport: ntpMiddle === 0 ? undefined : { ntpMiddle, delayMs },
      });
    }
  }
  return reports;
}

interface Nack {
  readonly mediaSsrc: number;
  readonly sequenceNumbers: readonly number[];
}

/** Reads which packets the receiver asks for again, up to `maxNumbers`. RFC 4585, 6.2.1. */
export function readNacks(compound: Buffer, maxNumbers: number): Nack[] {
  const nacks: Nack[] = [];
  let left = maxNumbers;
  for (const { type, count, body } of packetsOf(compound)) {
    if (type !== PACKET.transport || count !== GENERIC_NACK || body.length < 12) continue;
    const sequenceNumbers: number[] = [];
    for (let at = 8; at + 4 <= body.length && left > 0; at += 4) {
      const first = body.readUInt16BE(at);
      const following = body.readUInt16BE(at + 2);
      sequenceNumbers.push(first);
      for (let bit = 0; bit < 16; bit++) {
        if ((following & (1 << bit)) !== 0) sequenceNumbers.push((first + bit + 1) & 0xffff);
      }
      left -= 17;
    }
    nacks.push({ mediaSsrc: body.readUInt32BE(4), sequenceNumbers });
  }
  return nacks;
}

/** The packets of a compound packet, without their headers, up to the first malformed one. */
function* packetsOf(compound: Buffer): Generator<{ type: number; count: number; body: Buffer }> {
  for (let at = 0; at + 4 <= compound.length; ) {
    const end = at + 4 + compound.readUInt16BE(at + 2) * 4;
    if (compound[at]! >> 6 !== 2 || end > compound.length) return;
    yield { type: compound[at + 1]!, count: compound[at]! & 0x1f, body: compound.subarray(at + 4, end) };
    at = end;
  }
}

/** @param packets and payload bytes that were sent so far */
export function writeSenderReport(
  { ssrc, ntpMs, rtpTimestamp }: Omit<SenderReport, 'ntpMiddle'>,
  sent: { readonly packets: number; readonly bytes: number },
): Buffer {
  const body = Buffer.alloc(24);
  const seconds = Math.floor(ntpMs / 1000);
  body.writeUInt32BE(ssrc, 0);
  body.writeUInt32BE(seconds % 2 ** 32, 4);
  body.writeUInt32BE(fractionOf(ntpMs), 8);
  body.writeUInt32BE(rtpTimestamp, 12);
  body.writeUInt32BE(sent.packets % 2 ** 32, 16);
  body.writeUInt32BE(sent.bytes % 2 ** 32, 20);
  return withHeader(PACKET.senderReport, 0, body);
}

/** The middle 32 bits of an NTP time, which receivers repeat. */
export function ntpMiddleOf(ntpMs: number): number {
  return (Math.floor(ntpMs / 1000) % 0x10000) * 0x10000 + Math.floor(fractionOf(ntpMs) / 0x10000);
}

function fractionOf(ntpMs: number): number {
  return Math.floor(((ntpMs / 1000 - Math.floor(ntpMs / 1000)) * 2 ** 32) % 2 ** 32);
}

/** Names the sources of a receiver's or sender's packets. RFC 3550, 6.5. */
export function writeSourceDescription(ssrc: number, name: string): Buffer {
  const text = Buffer.from(name, 'latin1').subarray(0, 255);
  const body = Buffer.alloc(Math.ceil((4 + 2 + text.length + 1) / 4) * 4);
  body.writeUInt32BE(ssrc, 0);
  body[4] = CANONICAL_NAME;
  body[5] = text.length;
  text.copy(body, 6);
  return withHeader(PACKET.sourceDescription, 1, body);
}

function readSenderReport(body: Buffer): SenderReport {
  const ntpMs = body.readUInt32BE(4) * 1000 + (body.readUInt32BE(8) / 2 ** 32) * 1000;
  return {
    ssrc: body.readUInt32BE(0),
    ntpMs,
    ntpMiddle: body.readUInt32BE(6),
    rtpTimestamp: body.readUInt32BE(12),
  };
}

/** @param reports at most 31 */
export function writeReceiverReport(senderSsrc: number, reports: readonly ReceptionReport[]): Buffer {
  const body = Buffer.alloc(4 + reports.length * 24);
  body.writeUInt32BE(senderSsrc, 0);
  for (const [index, report] of reports.entries()) {
    const at = 4 + index * 24;
    body.writeUInt32BE(report.ssrc, at);
    body[at + 4] = Math.min(255, Math.floor(report.fractionLost * 256));
    body.writeIntBE(Math.max(-0x800000, Math.min(0x7fffff, report.packetsLost)), at + 5, 3);
    body.writeUInt32BE(report.highestSequenceNumber >>> 0, at + 8);
    body.writeUInt32BE(Math.round(report.jitter) >>> 0, at + 12);
    if (report.lastReport === undefined) continue;
    body.writeUInt32BE(report.lastReport.ntpMiddle, at + 16);
    body.writeUInt32BE(Math.round(report.lastReport.delayMs * 65.536) >>> 0, at + 20);
  }
  return withHeader(PACKET.receiverReport, reports.length, body);
}

/**
 * Asks for packets again. RFC 4585, 6.2.1.
 *
 * @param sequenceNumbers in ascending order of sending, not empty
 */
export function writeNack(senderSsrc: number, mediaSsrc: number, sequenceNumbers: readonly number[]): Buffer {
  const entries: { first: number; following: number }[] = [];
  for (const number of sequenceNumbers) {
    const last = entries.at(-1);
    const distance = last === undefined ? 0 : (number - last.first) & 0xffff;
    if (last !== undefined && distance >= 1 && distance <= 16) last.following |= 1 << (distance - 1);
    else entries.push({ first: number & 0xffff, following: 0 });
  }
  const body = Buffer.alloc(8 + entries.length * 4);
  body.writeUInt32BE(senderSsrc, 0);
  body.writeUInt32BE(mediaSsrc, 4);
  for (const [index, { first, following }] of entries.entries()) {
    body.writeUInt16BE(first, 8 + index * 4);
    body.writeUInt16BE(following, 10 + index * 4);
  }
  return withHeader(PACKET.transport, GENERIC_NACK, body);
}

/** Asks for a keyframe. RFC 4585, 6.3.1. */
export function writePictureLoss(senderSsrc: number, mediaSsrc: number): Buffer {
  const body = Buffer.alloc(8);
  body.writeUInt32BE(senderSsrc, 0);
  body.writeUInt32BE(mediaSsrc, 4);
  return withHeader(PACKET.payload, PICTURE_LOSS, body);
}

export interface TransportFeedback {
  readonly senderSsrc: number;
  readonly mediaSsrc: number;
  /** Transport-wide number of the first packet. */
  readonly firstNumber: number;
  /**
   * Arrivals in microseconds, undefined for packets that did not arrive; the first arrived, the list is not empty.
   */
  readonly arrivalsUs: readonly (number | undefined)[];
  /** Counts the feedback packets. */
  readonly count: number;
}

const REFERENCE_UNIT_US = 64_000;
const DELTA_UNIT_US = 250;
const NOT_RECEIVED = 0;
const SMALL_DELTA = 1;
const LARGE_DELTA = 2;
const symbolsPerChunk = 7;

/**
 * Tells the arrival times from which a sender estimates the bandwidth. Differences beyond 8 s are cut.
 * draft-holmer-rmcat-transport-wide-cc-extensions-01, 3.1.
 */
export function writeTransportFeedback(feedback: TransportFeedback): Buffer {
  const { senderSsrc, mediaSsrc, firstNumber, arrivalsUs, count } = feedback;
  const reference = Math.floor(arrivalsUs[0]! / REFERENCE_UNIT_US);
  const symbols: number[] = [];
  const deltas: number[] = [];
  let beforeUs = reference * REFERENCE_UNIT_US;
  for (const arrivalUs of arrivalsUs) {
    if (arrivalUs === undefined) {
      symbols.push(NOT_RECEIVED);
      continue;
    }
    const delta = Math.max(-0x8000, Math.min(0x7fff, Math.round((arrivalUs - beforeUs) / DELTA_UNIT_US)));
    const isSmall = delta >= 0 && delta <= 255;
    symbols.push(isSmall ? SMALL_DELTA : LARGE_DELTA);
    if (isSmall) deltas.push(delta);
    else deltas.push((delta >> 8) & 0xff, delta & 0xff);
    // Continues from the rounded time, so that errors do not add up.
    beforeUs += delta * DELTA_UNIT_US;
  }
  const chunks = Math.ceil(symbols.length / symbolsPerChunk);
  const unpadded = 16 + chunks * 2 + deltas.length;
  const paddingBytes = (4 - (unpadded % 4)) % 4;
  const body = Buffer.alloc(unpadded + paddingBytes);
  body.writeUInt32BE(senderSsrc, 0);
  body.writeUInt32BE(mediaSsrc, 4);
  body.writeUInt16BE(firstNumber & 0xffff, 8);
  body.writeUInt16BE(symbols.length, 10);
  body.writeUIntBE(reference & 0xffffff, 12, 3);
  body[15] = count & 0xff;
  for (let chunk = 0; chunk < chunks; chunk++) {
    let bits = 0xc000;
    for (let index = 0; index < symbolsPerChunk; index++) {
      bits |= (symbols[chunk * symbolsPerChunk + index] ?? NOT_RECEIVED) << (12 - 2 * index);
    }
    body.writeUInt16BE(bits, 16 + chunk * 2);
  }
  Buffer.from(deltas).copy(body, 16 + chunks * 2);
  if (paddingBytes > 0) body[body.length - 1] = paddingBytes;
  return withHeader(PACKET.transport, TRANSPORT_WIDE, body, paddingBytes > 0);
}

function withHeader(type: number, count: number, body: Buffer, isPadded = false): Buffer {
  const header = Buffer.alloc(4);
  header[0] = 0x80 | (isPadded ? 0x20 : 0) | count;
  header[1] = type;
  header.writeUInt16BE(body.length / 4, 2);
  return Buffer.concat([header, body]);
}
