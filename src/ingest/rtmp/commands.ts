import amf from 'node-media-server/src/protocol/amf.js';
import { malformedRtmp } from '../../media/rtmp/chunk-reader.ts';

export interface Command {
  readonly name: string;
  /** 0 when no answer is expected. */
  readonly transactionId: number;
  /** Untrusted; the first is the command object or null. */
  readonly args: readonly unknown[];
}

export interface ConnectInfo {
  readonly app: string;
  readonly encoder: string;
  /** Properties of Enhanced RTMP for the answer: ours, where the encoder names its own. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** 0 is AMF0, 3 is AMF3. */
  readonly objectEncoding: number;
}

const maxCommandValues = 8;
const maxEncoderLength = 64;
const videoFourCcs = ['avc1', 'hvc1', 'av01'];
const audioFourCcs = ['mp4a', 'Opus', 'ac-3', 'ec-3', 'fLaC', '.mp3'];
/** FourCcInfoMask.CanForward. */
const CAN_FORWARD = 4;
/** CapsExMask: Multitrack, ModEx, TimestampNanoOffset. */
const EXTENDED_CAPABILITIES = 2 | 4 | 8;
const ownCapabilities: Readonly<Record<string, unknown>> = {
  fourCcList: asStrictArray([...videoFourCcs, ...audioFourCcs]),
  videoFourCcInfoMap: infoMapOf(videoFourCcs),
  audioFourCcInfoMap: infoMapOf(audioFourCcs),
  capsEx: EXTENDED_CAPABILITIES,
};

/** @throws AppError `media-malformed` without a name; RangeError when truncated or nested too deeply */
export function decodeCommand(payload: Buffer): Command {
  const values: unknown[] = [];
  let rest = payload;
  while (rest.length > 0 && values.length < maxCommandValues) {
    const decoded = amf.amf0DecodeOne(rest);
    if (decoded === null) break;
    values.push(decoded.value);
    rest = rest.subarray(decoded.len);
  }
  const [name, transactionId, ...args] = values;
  if (typeof name !== 'string') throw malformedRtmp('a command without a name');
  const isNumber = typeof transactionId === 'number' && Number.isFinite(transactionId);
  return { name, transactionId: isNumber ? transactionId : 0, args };
}

export function readConnect(command: Command): ConnectInfo {
  const object = command.args[0];
  const encoder = printable(textOf(propertyOf(object, 'flashVer'))).slice(0, maxEncoderLength);
  const named = Object.entries(ownCapabilities).filter(([name]) => propertyOf(object, name) !== undefined);
  return {
    app: textOf(propertyOf(object, 'app')),
    encoder,
    capabilities: Object.fromEntries(named),
    objectEncoding: propertyOf(object, 'objectEncoding') === 3 ? 3 : 0,
  };
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The library counts characters where AMF0 requires bytes, and log lines must stay single. */
export function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}

/** Reads own properties only: the library lets a sender set the prototype of decoded objects. */
function propertyOf(object: unknown, name: string): unknown {
  if (typeof object !== 'object' || object === null || !Object.hasOwn(object, name)) return undefined;
  return (object as Record<string, unknown>)[name];
}

function infoMapOf(fourCcs: readonly string[]): Record<string, number> {
  return Object.fromEntries(fourCcs.map(fourCc => [fourCc, CAN_FORWARD]));
}

/** Marks an array as the library writes it. */
function asStrictArray(values: readonly string[]): string[] {
  return Object.defineProperty([...values], 'sarray', { value: true });
}
