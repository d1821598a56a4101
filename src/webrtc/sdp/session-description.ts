import type { Fingerprint } from '../dtls/dtls-server.ts';

export type MediaKind = 'audio' | 'video';

export interface RtpCodec {
  readonly payloadType: number;
  /** Name as in the SDP; compare without regard to case. */
  readonly name: string;
  readonly clockRate: number;
  readonly channels: number;
  /** Parameters of `a=fmtp`, with names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The text of `a=fmtp`. */
  readonly format: string;
  /** Values of `a=rtcp-fb`, such as `nack pli`. */
  readonly feedback: readonly string[];
}

export interface MediaDescription {
  readonly kind: string;
  /** Transport protocol, such as `UDP/TLS/RTP/SAVPF`. */
  readonly protocol: string;
  /** The formats of the `m=` line. */
  readonly formats: string;
  readonly mid: string;
  readonly isRejected: boolean;
  readonly direction: 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';
  readonly hasRtcpMux: boolean;
  readonly setup: string;
  readonly ice: IceCredentials | undefined;
  readonly fingerprints: readonly Fingerprint[];
  /** Codecs in the order of preference. */
  readonly codecs: readonly RtpCodec[];
  /** Numbers of header extensions, by URI. */
  readonly extensions: ReadonlyMap<string, number>;
}

export interface IceCredentials {
  readonly usernameFragment: string;
  readonly password: string;
}

export interface SessionDescription {
  readonly isIceLite: boolean;
  /** Media identifications that share a transport. */
  readonly bundle: readonly string[];
  readonly media: readonly MediaDescription[];
}

/** Browsers write up to 400 lines. */
const maxLines = 2_000;
const maxLineChars = 2_048;
const maxMedia = 16;
const directions = ['sendrecv', 'sendonly', 'recvonly', 'inactive'] as const;
const hashes: Readonly<Record<string, Fingerprint['hash']>> = {
  'sha-256': 'sha256',
  'sha-384': 'sha384',
  'sha-512': 'sha512',
};
const iceCharacters = /^[A-Za-z0-9+/]+$/;

/** The attributes of a section by name. */
type Attributes = ReadonlyMap<string, readonly string[]>;

/** Reads an offer or answer. RFC 8866; RFC 8829, 5.8. A text says which line is wrong. */
export function parseSessionDescription(text: string): SessionDescription | string {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === '') lines.pop();
  if (lines.length > maxLines) return `The SDP has more than ${maxLines} lines.`;
  if (lines[0] !== 'v=0') return 'The SDP must begin with "v=0".';
  const sections: { readonly first: string; readonly attributes: Map<string, string[]> }[] = [
    { first: '', attributes: new Map() },
  ];
  for (const [index, line] of lines.entries()) {
    if (line.length > maxLineChars)
      return `Line ${index + 1} of the SDP is longer than ${maxLineChars} characters.`;
    if (!/^[a-z]=/.test(line)) return `Line ${index + 1} of the SDP does not begin with a letter and "=".`;
    if (line.startsWith('m=')) sections.push({ first: line.slice(2), attributes: new Map() });
    if (sections.length > maxMedia + 1) return `The SDP has more than ${maxMedia} media descriptions.`;
    if (!line.startsWith('a=')) continue;
    const [, name = '', value = ''] = /^a=([^:]*):?(.*)$/.exec(line) ?? [];
    const { attributes } = sections.at(-1)!;
    attributes.set(name, [...(attributes.get(name) ?? []), value]);
  }
  const session = sections[0]!.attributes;
  const media: MediaDescription[] = [];
  for (const { first, attributes } of sections.slice(1)) {
    const parsed = readMedia(first, attributes, session);
    if (parsed === undefined)
      return `The media description "m=${first.slice(0, 64)}" of the SDP cannot be read.`;
    media.push(parsed);
  }
  const group = session.get('group')?.find(each => each.startsWith('BUNDLE')) ?? '';
  return { isIceLite: session.has('ice-lite'), bundle: group.split(' ').slice(1), media };
}

function readMedia(first: string, own: Attributes, session: Attributes): MediaDescription | undefined {
  const [, kind, port, protocol, formats] = /^(\w+) (\d+)(?:\/\d+)? (\S+) (.+)$/.exec(first) ?? [];
  if (kind === undefined || port === undefined || protocol === undefined || formats === undefined) {
    return undefined;
  }
  const value = (name: string) => own.get(name)?.[0] ?? session.get(name)?.[0];
  const isSet = (name: string) => own.has(name) || session.has(name);
  const fingerprints = own.get('fingerprint') ?? session.get('fingerprint') ?? [];
  return {
    kind,
    protocol,
    formats,
    mid: value('mid') ?? '',
    isRejected: port === '0' && !own.has('bundle-only'),
    direction: directions.find(each => own.has(each)) ?? directions.find(isSet) ?? 'sendrecv',
    hasRtcpMux: own.has('rtcp-mux'),
    setup: value('setup') ?? '',
    ice: readCredentials(value('ice-ufrag'), value('ice-pwd')),
    fingerprints: fingerprints.flatMap(readFingerprint),
    codecs: [...new Set(formats.split(' '))].flatMap(format => readCodec(format, own)),
    extensions: new Map((own.get('extmap') ?? []).flatMap(readExtension)),
  };
}

/** RFC 8839, 5.4. */
export function readCredentials(
  usernameFragment: string | undefined,
  password: string | undefined,
): IceCredentials | undefined {
  if (usernameFragment === undefined || password === undefined) return undefined;
  const isValid =
    iceCharacters.test(usernameFragment) &&
    usernameFragment.length >= 4 &&
    usernameFragment.length <= 256 &&
    iceCharacters.test(password) &&
    password.length >= 22 &&
    password.length <= 256;
  return isValid ? { usernameFragment, password } : undefined;
}

function readFingerprint(text: string): Fingerprint[] {
  const [name = '', value = ''] = text.trim().split(/\s+/);
  const hash = hashes[name.toLowerCase()];
  return hash === undefined ? [] : [{ hash, value: value.toUpperCase() }];
}

function readExtension(text: string): [string, number][] {
  const [, id, uri] = /^(\d{1,3})(?:\/\w+)? (\S+)/.exec(text) ?? [];
  return id === undefined || uri === undefined ? [] : [[uri, Number(id)]];
}

function readCodec(format: string, attributes: Attributes): RtpCodec[] {
  const payloadType = /^\d{1,3}$/.test(format) ? Number(format) : Number.NaN;
  if (!(payloadType <= 127)) return [];
  const ofFormat = (name: string) =>
    (attributes.get(name) ?? [])
      .filter(text => text.startsWith(`${format} `))
      .map(text => text.slice(format.length + 1));
  const [, name, rate, channels] =
    /^([^/\s]+)\/(\d{1,7})(?:\/(\d{1,2}))?/.exec(ofFormat('rtpmap')[0] ?? '') ?? [];
  if (name === undefined) return [];
  const parameters = ofFormat('fmtp')[0] ?? '';
  const forAll = (attributes.get('rtcp-fb') ?? []).flatMap(text =>
    text.startsWith('* ') ? [text.slice(2)] : [],
  );
  return [
    {
      payloadType,
      name,
      clockRate: Number(rate),
      channels: Number(channels ?? 1),
      parameters: new Map(parameters.split(';').flatMap(readParameter)),
      format: parameters,
      feedback: [...ofFormat('rtcp-fb'), ...forAll],
    },
  ];
}

function readParameter(text: string): [string, string][] {
  const [name = '', ...value] = text.trim().split('=');
  return name === '' ? [] : [[name.toLowerCase(), value.join('=')]];
}
