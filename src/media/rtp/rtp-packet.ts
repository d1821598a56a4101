/** RFC 3550, 5.1. `payload` is a view of the packet. */
export interface RtpPacket {
  readonly payloadType: number;
  readonly isMarked: boolean;
  readonly sequenceNumber: number;
  readonly timestamp: number;
  readonly ssrc: number;
  /** Payload without padding; empty for packets that only probe the bandwidth. */
  readonly payload: Buffer;
  /** Extensions by their number in the SDP. RFC 8285. */
  readonly extensions: ReadonlyMap<number, Buffer>;
}

const FIXED_HEADER_BYTES = 12;
const ONE_BYTE_PROFILE = 0xbede;
const TWO_BYTE_PROFILE = 0x100;
const noExtensions: ReadonlyMap<number, Buffer> = new Map();

/** Length of the header with contributing sources and extensions; undefined for what is no RTP packet. */
export function rtpHeaderBytes(packet: Buffer): number | undefined {
  if (packet.length < FIXED_HEADER_BYTES || packet[0]! >> 6 !== 2) return undefined;
  let bytes = FIXED_HEADER_BYTES + (packet[0]! & 0x0f) * 4;
  if ((packet[0]! & 0x10) !== 0) {
    if (packet.length < bytes + 4) return undefined;
    bytes += 4 + packet.readUInt16BE(bytes + 2) * 4;
  }
  return packet.length < bytes ? undefined : bytes;
}

export function parseRtp(packet: Buffer): RtpPacket | undefined {
  const headerBytes = rtpHeaderBytes(packet);
  if (headerBytes === undefined) return undefined;
  const hasPadding = (packet[0]! & 0x20) !== 0;
  const paddingBytes = hasPadding ? packet.at(-1)! : 0;
  if (packet.length - paddingBytes < headerBytes) return undefined;
  return {
    payloadType: packet[1]! & 0x7f,
    isMarked: (packet[1]! & 0x80) !== 0,
    sequenceNumber: packet.readUInt16BE(2),
    timestamp: packet.readUInt32BE(4),
    ssrc: packet.readUInt32BE(8),
    payload: packet.subarray(headerBytes, packet.length - paddingBytes),
    extensions: (packet[0]! & 0x10) === 0 ? noExtensions : readExtensions(packet, headerBytes),
  };
}

function readExtensions(packet: Buffer, headerBytes: number): ReadonlyMap<number, Buffer> {
  const start = FIXED_HEADER_BYTES + (packet[0]! & 0x0f) * 4;
  const profile = packet.readUInt16BE(start);
  const isOneByte = profile === ONE_BYTE_PROFILE;
  if (!isOneByte && profile >> 4 !== TWO_BYTE_PROFILE >> 4) return noExtensions;
  const extensions = new Map<number, Buffer>();
  for (let at = start + 4; at < headerBytes; ) {
    const first = packet[at]!;
    at += 1;
    if (first === 0) continue;
    const id = isOneByte ? first >> 4 : first;
    if (isOneByte && id === 15) break;
    const length = isOneByte ? (first & 0x0f) + 1 : (packet[at++] ?? 0);
    if (at + length > headerBytes) break;
    extensions.set(id, packet.subarray(at, at + length));
    at += length;
  }
  return extensions;
}

/** Writes the header of a packet without contributing sources, extensions and padding. */
export function writeRtpHeader(packet: Omit<RtpPacket, 'extensions' | 'payload'>): Buffer {
  const { payloadType, isMarked, sequenceNumber, timestamp, ssrc } = packet;
  const bytes = Buffer.allocUnsafe(FIXED_HEADER_BYTES);
  bytes[0] = 0x80;
  bytes[1] = (isMarked ? 0x80 : 0) | payloadType;
  bytes.writeUInt16BE(sequenceNumber, 2);
  bytes.writeUInt32BE(timestamp, 4);
  bytes.writeUInt32BE(ssrc, 8);
  return bytes;
}
