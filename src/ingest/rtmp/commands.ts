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
  readonly fourCcList: readonly string[];
  /** The encoder's Enhanced RTMP properties, sanitized. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** 0 is AMF0, 3 is AMF3. */
  readonly objectEncoding: number;
}

const maxCommandValues = 8;
const maxFourCcs = 32;
const maxEncoderLength = 64;

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
  const video = readInfoMap(propertyOf(object, 'videoFourCcInfoMap'));
  const audio = readInfoMap(propertyOf(object, 'audioFourCcInfoMap'));
  const listed = readFourCcList(propertyOf(object, 'fourCcList'));
  return {
    app: textOf(propertyOf(object, 'app')),
    encoder,
    fourCcList: [...new Set([...(listed ?? []), ...Object.keys(video ?? {}), ...Object.keys(audio ?? {})])],
    capabilities: {
      ...(listed === undefined ? {} : { fourCcList: asStrictArray(listed) }),
      ...(video === undefined ? {} : { videoFourCcInfoMap: video }),
      ...(audio === undefined ? {} : { audioFourCcInfoMap: audio }),
    },
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

function isFourCc(value: unknown): value is string {
  return typeof value === 'string' && /^(?:[\x20-\x7e]{4}|\*)$/.test(value);
}

function readFourCcList(value: unknown): string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.values(value).filter(isFourCc).slice(0, maxFourCcs);
}

function readInfoMap(value: unknown): Record<string, number> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const known = Object.entries(value).filter(
    (entry): entry is [string, number] => isFourCc(entry[0]) && Number.isFinite(entry[1]),
  );
  return Object.fromEntries(known.slice(0, maxFourCcs));
}

function asStrictArray(values: readonly string[]): string[] {
  return Object.defineProperty([...values], 'sarray', { value: true });
}
