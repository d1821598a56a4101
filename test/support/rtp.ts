import { parseRtp, type RtpPacket, rtpHeaderBytes } from '../../src/media/rtp/rtp-packet.ts';
import type { SrtpSession } from '../../src/webrtc/srtp/srtp-session.ts';

export interface RtpFields {
  readonly sequenceNumber: number;
  readonly timestamp?: number;
  readonly payloadType?: number;
  readonly isMarked?: boolean;
  readonly ssrc?: number;
  readonly payload?: Buffer;
  /** Adds a transport-wide number as extension 3. */
  readonly extension?: boolean;
}

/** The bytes of an RTP packet. */
export function rtpPacket(fields: RtpFields): Buffer {
  const { sequenceNumber, timestamp = 0, payloadType = 96, isMarked = false, ssrc = 7 } = fields;
  const header = Buffer.alloc(12);
  header[0] = 0x80 | (fields.extension ? 0x10 : 0);
  header[1] = (isMarked ? 0x80 : 0) | payloadType;
  header.writeUInt16BE(sequenceNumber & 0xffff, 2);
  header.writeUInt32BE(timestamp >>> 0, 4);
  header.writeUInt32BE(ssrc, 8);
  const extension = fields.extension
    ? Buffer.from([0xbe, 0xde, 0, 1, 0x31, sequenceNumber >> 8, sequenceNumber & 0xff, 0])
    : Buffer.alloc(0);
  return Buffer.concat([header, extension, fields.payload ?? Buffer.from('payload')]);
}

/** Protects the bytes of an RTP packet. */
export function sealRtp(session: SrtpSession, packet: Buffer): Buffer {
  const headerBytes = rtpHeaderBytes(packet)!;
  const [header, payload] = [packet.subarray(0, headerBytes), packet.subarray(headerBytes)];
  return Buffer.concat(session.sealRtp({ header, payload }));
}

export function parsedRtp(fields: RtpFields): RtpPacket {
  return parseRtp(rtpPacket(fields))!;
}
