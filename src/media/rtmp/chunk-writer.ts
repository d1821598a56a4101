/** Writes chunks (RTMP 1.0, 5.3.1). */

interface MessageToWrite {
  readonly chunkStreamId: number;
  readonly type: number;
  readonly messageStreamId: number;
  /** 0..2^32-1. */
  readonly timestampMs: number;
  readonly payload: Buffer;
}

/** Header types 0 (absolute timestamp) and 1 (delta, on the message stream of the previous message). */
type HeaderFormat = 0 | 1;

export const EXTENDED_TIMESTAMP = 0xffffff;
/** Basic header included, without an extended timestamp. */
export const headerBytes = [12, 8] as const;

export function writeMessage(message: MessageToWrite, chunkBytes: number): Buffer {
  const { payload, timestampMs } = message;
  const bytes = Buffer.allocUnsafe(messageBytes(0, timestampMs, payload.length, chunkBytes));
  writeMessageAt(bytes, 0, { ...message, format: 0, timestamp: timestampMs }, payload, chunkBytes);
  return bytes;
}

/** @param timestamp absolute or a delta, depending on the format */
export function messageBytes(
  format: HeaderFormat,
  timestamp: number,
  payloadBytes: number,
  chunkBytes: number,
): number {
  const extensionBytes = timestamp >= EXTENDED_TIMESTAMP ? 4 : 0;
  const continuations = Math.max(0, Math.ceil(payloadBytes / chunkBytes) - 1);
  return headerBytes[format] + extensionBytes + payloadBytes + continuations * (1 + extensionBytes);
}

interface MessageHeader {
  readonly format: HeaderFormat;
  /** 2..63. */
  readonly chunkStreamId: number;
  readonly type: number;
  /** Used by format 0. */
  readonly messageStreamId: number;
  readonly timestamp: number;
}

/** Returns the end. */
export function writeMessageAt(
  bytes: Buffer,
  start: number,
  header: MessageHeader,
  payload: Buffer,
  chunkBytes: number,
): number {
  let at = writeHeaderAt(bytes, start, header, payload.length);
  for (let from = 0; from < payload.length; from += chunkBytes) {
    if (from > 0) at = writeContinuationAt(bytes, at, header);
    at += payload.copy(bytes, at, from, from + chunkBytes);
  }
  return at;
}

/** Returns the end. */
export function writeHeaderAt(
  bytes: Buffer,
  start: number,
  { format, chunkStreamId, type, messageStreamId, timestamp }: MessageHeader,
  payloadBytes: number,
): number {
  const isExtended = timestamp >= EXTENDED_TIMESTAMP;
  bytes[start] = (format << 6) | chunkStreamId;
  bytes.writeUIntBE(isExtended ? EXTENDED_TIMESTAMP : timestamp, start + 1, 3);
  bytes.writeUIntBE(payloadBytes, start + 4, 3);
  bytes[start + 7] = type;
  if (format === 0) bytes.writeUInt32LE(messageStreamId, start + 8);
  const end = start + headerBytes[format];
  return isExtended ? bytes.writeUInt32BE(timestamp, end) : end;
}

/** A type 3 header repeats the extended timestamp (5.3.1.3). */
export function writeContinuationAt(
  bytes: Buffer,
  start: number,
  { chunkStreamId, timestamp }: Pick<MessageHeader, 'chunkStreamId' | 'timestamp'>,
): number {
  bytes[start] = 0xc0 | chunkStreamId;
  return timestamp >= EXTENDED_TIMESTAMP ? bytes.writeUInt32BE(timestamp, start + 1) : start + 1;
}
