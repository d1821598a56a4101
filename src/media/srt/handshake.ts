import { EXTENSION } from './packet.ts';

/** Section 3.2.1, Table 4. Beyond 1000 it is a rejection, see `reject-reason.ts`. */
export const HANDSHAKE = {
  induction: 1,
  conclusion: 0xffff_ffff,
} as const;

/** Extension field of a listener that speaks version 5. */
export const srtMagic = 0x4a17;
/** Extension field of a caller's first packet. */
export const datagramSocket = 2;

/** Bits of the extension field that announce extensions. */
const HAS_HANDSHAKE = 1;
const HAS_KEY = 2;
const HAS_CONFIG = 4;

/** Section 3.2.1.1.1. */
const FLAG = {
  sendsWithTimestamps: 0x01,
  receivesByTimestamps: 0x02,
  knowsEncryption: 0x04,
  dropsLatePackets: 0x08,
  repeatsLossReports: 0x10,
  marksRetransmissions: 0x20,
  streams: 0x40,
} as const;

const liveFlags =
  FLAG.sendsWithTimestamps |
  FLAG.receivesByTimestamps |
  FLAG.knowsEncryption |
  FLAG.dropsLatePackets |
  FLAG.repeatsLossReports |
  FLAG.marksRetransmissions;

/** The version of the protocol that is spoken: 1.5.0. */
const ourVersion = 0x01_05_00;
/** First version with handshake version 5. */
const minVersion = 0x01_03_00;
const fixedBytes = 48;
const maxStreamIdBytes = 512;
/** A salt and two wrapped keys of 32 bytes need 104. */
const maxKeyMessageBytes = 128;
const maxExtensions = 8;
const mtuBytes = 1500;

export interface Handshake {
  readonly version: number;
  /** Key length divided by 8, or 0. */
  readonly encryption: number;
  readonly extensionField: number;
  readonly initialSequence: number;
  readonly flowWindow: number;
  readonly type: number;
  readonly socketId: number;
  readonly cookie: number;
  readonly extensions: Buffer;
}

/** @returns undefined for what is no handshake */
export function readHandshake(body: Buffer): Handshake | undefined {
  if (body.length < fixedBytes) return undefined;
  return {
    version: body.readUInt32BE(0),
    encryption: body.readUInt16BE(4),
    extensionField: body.readUInt16BE(6),
    initialSequence: body.readUInt32BE(8) & 0x7fff_ffff,
    flowWindow: body.readUInt32BE(16),
    type: body.readUInt32BE(20),
    socketId: body.readUInt32BE(24),
    cookie: body.readUInt32BE(28),
    extensions: body.subarray(fixedBytes),
  };
}

export function writeHandshake(handshake: Handshake): Buffer {
  const body = Buffer.alloc(fixedBytes + handshake.extensions.length);
  body.writeUInt32BE(handshake.version, 0);
  body.writeUInt16BE(handshake.encryption, 4);
  body.writeUInt16BE(handshake.extensionField, 6);
  body.writeUInt32BE(handshake.initialSequence, 8);
  body.writeUInt32BE(mtuBytes, 12);
  body.writeUInt32BE(handshake.flowWindow, 16);
  body.writeUInt32BE(handshake.type, 20);
  body.writeUInt32BE(handshake.socketId, 24);
  body.writeUInt32BE(handshake.cookie, 28);
  handshake.extensions.copy(body, fixedBytes);
  return body;
}

/** A response has no stream ID, and both have a key message only if the connection is encrypted. */
interface HandshakeExtensions {
  /** Latency of the peer as receiver and as sender. */
  readonly receiverLatencyMs: number;
  readonly senderLatencyMs: number;
  readonly streamId: string | undefined;
  readonly keyMessage: Buffer | undefined;
}

/** Why a peer is of no use, as one of `SRT_REJECT`. */
export type ExtensionProblem = 'version' | 'rogue' | 'message-api';

/** Ignores extensions that it does not know. */
export function readExtensions(
  { extensions: body }: Handshake,
  side: 'request' | 'response',
): HandshakeExtensions | ExtensionProblem {
  let settings: Buffer | undefined;
  let keyMessage: Buffer | undefined;
  let streamId: string | undefined;
  let at = 0;
  for (let count = 0; at + 4 <= body.length; count += 1) {
    const type = body.readUInt16BE(at);
    const end = at + 4 + body.readUInt16BE(at + 2) * 4;
    if (end > body.length || count === maxExtensions) return 'rogue';
    const content = body.subarray(at + 4, end);
    if (type === (side === 'request' ? EXTENSION.handshakeRequest : EXTENSION.handshakeResponse)) {
      settings = content;
    } else if (type === (side === 'request' ? EXTENSION.keyRequest : EXTENSION.keyResponse)) {
      if (content.length > maxKeyMessageBytes) return 'rogue';
      keyMessage = Buffer.from(content);
    } else if (type === EXTENSION.streamId) {
      if (content.length > maxStreamIdBytes) return 'rogue';
      streamId = readWords(content);
    }
    at = end;
  }
  if (settings === undefined || settings.length < 12) return 'rogue';
  if (settings.readUInt32BE(0) < minVersion) return 'version';
  const flags = settings.readUInt32BE(4);
  if ((flags & FLAG.streams) !== 0 || (flags & FLAG.marksRetransmissions) === 0) return 'message-api';
  return {
    receiverLatencyMs: settings.readUInt16BE(8),
    senderLatencyMs: settings.readUInt16BE(10),
    streamId,
    keyMessage,
  };
}

/** @returns the extension field and what it announces */
export function writeExtensions(
  extensions: HandshakeExtensions,
  side: 'request' | 'response',
): Pick<Handshake, 'extensionField' | 'extensions'> {
  const { streamId, keyMessage } = extensions;
  const settings = Buffer.alloc(12);
  settings.writeUInt32BE(ourVersion, 0);
  settings.writeUInt32BE(liveFlags, 4);
  settings.writeUInt16BE(extensions.receiverLatencyMs, 8);
  settings.writeUInt16BE(extensions.senderLatencyMs, 10);
  const isRequest = side === 'request';
  const parts = [extension(isRequest ? EXTENSION.handshakeRequest : EXTENSION.handshakeResponse, settings)];
  let extensionField = HAS_HANDSHAKE;
  if (keyMessage !== undefined) {
    parts.push(extension(isRequest ? EXTENSION.keyRequest : EXTENSION.keyResponse, keyMessage));
    extensionField |= HAS_KEY;
  }
  if (streamId !== undefined && streamId !== '') {
    parts.push(extension(EXTENSION.streamId, writeWords(streamId)));
    extensionField |= HAS_CONFIG;
  }
  return { extensionField, extensions: Buffer.concat(parts) };
}

function extension(type: number, content: Buffer): Buffer {
  const head = Buffer.allocUnsafe(4);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(content.length / 4, 2);
  return Buffer.concat([head, content]);
}

/** The text is in 32-bit words whose bytes are in reverse order (section 3.2.1.3). */
function readWords(content: Buffer): string {
  const text = Buffer.from(content).swap32().toString('utf8');
  const end = text.indexOf('\0');
  return end === -1 ? text : text.slice(0, end);
}

function writeWords(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  const words = Buffer.alloc(Math.ceil(bytes.length / 4) * 4);
  bytes.copy(words);
  return words.swap32();
}
