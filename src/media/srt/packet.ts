import { addSequence, sequenceDistance } from './sequence-number.ts';

/** Section 3.2 of draft-sharabayko-srt. */
export const CONTROL = {
  handshake: 0,
  keepalive: 1,
  ack: 2,
  lossReport: 3,
  shutdown: 5,
  ackAck: 6,
  dropRequest: 7,
  userDefined: 0x7fff,
} as const;

/** Subtypes of {@link CONTROL.userDefined}, and types of handshake extensions. */
export const EXTENSION = {
  handshakeRequest: 1,
  handshakeResponse: 2,
  keyRequest: 3,
  keyResponse: 4,
  streamId: 5,
} as const;

const headerBytes = 16;
/** Payload of a 1500-byte MTU, without the headers of IP, UDP and SRT. */
export const maxPayloadBytes = 1456;

const controlFlag = 0x8000_0000;
const rangeFlag = 0x8000_0000;
/** Position flags: both the first and the last packet of its message, which is every packet in live mode. */
const soloMessage = 0xc000_0000;

export type KeyParity = 'even' | 'odd';

export interface DataPacket {
  readonly kind: 'data';
  readonly sequence: number;
  /** Undefined: not encrypted. */
  readonly key: KeyParity | undefined;
  /** Microseconds of the sender's clock, 32 bits. */
  readonly timestampUs: number;
  readonly destination: number;
  readonly payload: Buffer;
}

export interface ControlPacket {
  readonly kind: 'control';
  readonly type: number;
  readonly subtype: number;
  readonly info: number;
  readonly timestampUs: number;
  readonly destination: number;
  readonly body: Buffer;
}

/** @returns undefined for what is no SRT packet */
export function readPacket(datagram: Buffer): DataPacket | ControlPacket | undefined {
  if (datagram.length < headerBytes) return undefined;
  const first = datagram.readUInt32BE(0);
  const second = datagram.readUInt32BE(4);
  const timestampUs = datagram.readUInt32BE(8);
  const destination = datagram.readUInt32BE(12);
  const rest = datagram.subarray(headerBytes);
  if (first >= controlFlag) {
    const type = (first >>> 16) & 0x7fff;
    const subtype = first & 0xffff;
    return { kind: 'control', type, subtype, info: second, timestampUs, destination, body: rest };
  }
  const keyBits = (second >>> 27) & 3;
  return {
    kind: 'data',
    sequence: first,
    key: keyBits === 0 ? undefined : keyBits === 1 ? 'even' : 'odd',
    timestampUs,
    destination,
    payload: rest,
  };
}

interface DataFields {
  readonly sequence: number;
  readonly messageNumber: number;
  readonly key: KeyParity | undefined;
  readonly timestampUs: number;
  readonly destination: number;
  readonly payload: Buffer;
}

export function writeData(fields: DataFields): Buffer {
  const packet = Buffer.allocUnsafe(headerBytes + fields.payload.length);
  const keyBits = fields.key === undefined ? 0 : fields.key === 'even' ? 1 : 2;
  packet.writeUInt32BE(fields.sequence, 0);
  packet.writeUInt32BE((soloMessage + keyBits * 2 ** 27 + (fields.messageNumber & 0x3ff_ffff)) >>> 0, 4);
  packet.writeUInt32BE(fields.timestampUs, 8);
  packet.writeUInt32BE(fields.destination, 12);
  fields.payload.copy(packet, headerBytes);
  return packet;
}

export function markRetransmitted(packet: Buffer): void {
  packet[4] = packet[4]! | 0x04;
}

interface ControlFields {
  readonly type: number;
  readonly subtype?: number;
  readonly info?: number;
  readonly timestampUs: number;
  readonly destination: number;
  readonly body?: Buffer;
}

export function writeControl(fields: ControlFields): Buffer {
  // libsrt expects a body of at least four bytes.
  const { type, subtype = 0, info = 0, body = Buffer.alloc(4) } = fields;
  const packet = Buffer.allocUnsafe(headerBytes + body.length);
  packet.writeUInt32BE((controlFlag + type * 0x1_0000 + subtype) >>> 0, 0);
  packet.writeUInt32BE(info, 4);
  packet.writeUInt32BE(fields.timestampUs, 8);
  packet.writeUInt32BE(fields.destination, 12);
  body.copy(packet, headerBytes);
  return packet;
}

interface AckFields {
  /** Next expected number: all packets before it have arrived or were given up. */
  readonly nextSequence: number;
  readonly roundTripUs: number;
  readonly roundTripVarianceUs: number;
  readonly freePackets: number;
  readonly packetsPerSecond: number;
  readonly bytesPerSecond: number;
}

/** Section 3.2.4. */
export function writeAck(fields: AckFields): Buffer {
  const body = Buffer.allocUnsafe(28);
  body.writeUInt32BE(fields.nextSequence, 0);
  body.writeUInt32BE(fields.roundTripUs, 4);
  body.writeUInt32BE(fields.roundTripVarianceUs, 8);
  body.writeUInt32BE(fields.freePackets, 12);
  body.writeUInt32BE(fields.packetsPerSecond, 16);
  // The capacity of the link, which only file mode uses.
  body.writeUInt32BE(fields.packetsPerSecond, 20);
  body.writeUInt32BE(fields.bytesPerSecond, 24);
  return body;
}

/** `roundTripUs` is absent from a light acknowledgement. */
export function readAck(body: Buffer): { nextSequence: number; roundTripUs: number | undefined } | undefined {
  if (body.length < 4) return undefined;
  const roundTripUs = body.length < 12 ? undefined : body.readUInt32BE(4);
  return { nextSequence: body.readUInt32BE(0) & 0x7fff_ffff, roundTripUs };
}

/** A range of sequence numbers, both inclusive. */
export interface SequenceRange {
  readonly first: number;
  readonly last: number;
}

/** Appendix A, "Packet Sequence List Coding". */
export function writeLossList(ranges: readonly SequenceRange[]): Buffer {
  const words = ranges.flatMap(({ first, last }) => (first === last ? [first] : [first + rangeFlag, last]));
  const body = Buffer.allocUnsafe(words.length * 4);
  for (const [index, word] of words.entries()) body.writeUInt32BE(word, index * 4);
  return body;
}

/** Leaves out ranges that run backwards and those longer than `maxLength`. */
export function readLossList(body: Buffer, maxLength: number): SequenceRange[] {
  const ranges: SequenceRange[] = [];
  for (let at = 0; at + 4 <= body.length; at += 4) {
    const word = body.readUInt32BE(at);
    if (word < rangeFlag) {
      ranges.push({ first: word, last: word });
      continue;
    }
    at += 4;
    if (at + 4 > body.length) break;
    const range = readRange(word - rangeFlag, body.readUInt32BE(at), maxLength);
    if (range !== undefined) ranges.push(range);
  }
  return ranges;
}

/** Section 3.2.9. */
export function writeDropRequest({ first, last }: SequenceRange): Buffer {
  const body = Buffer.allocUnsafe(8);
  body.writeUInt32BE(first, 0);
  body.writeUInt32BE(last, 4);
  return body;
}

export function readDropRequest(body: Buffer, maxLength: number): SequenceRange | undefined {
  if (body.length < 8) return undefined;
  return readRange(body.readUInt32BE(0) & 0x7fff_ffff, body.readUInt32BE(4), maxLength);
}

function readRange(first: number, last: number, maxLength: number): SequenceRange | undefined {
  if (last >= rangeFlag) return undefined;
  const length = sequenceDistance(first, addSequence(last, 1));
  return length < 1 || length > maxLength ? undefined : { first, last };
}
